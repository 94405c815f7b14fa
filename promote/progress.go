package promote

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
)

// What a Result says of the command.
const (
	commandPromote  = "promote"
	commandRollback = "rollback"
	commandDiff     = "diff"
	commandCheck    = "check"
)

// begin opens the Result.
func (p *Promotion) begin(command string) {
	if p.DryRun && command == commandPromote {
		command = commandDiff
	}
	p.result = Result{
		Command: command, DryRun: p.DryRun, Service: p.Service, Environment: p.Environment, Overlay: p.Overlay,
		Application: p.App.Name, RunURL: p.RunURL, Actor: p.Actor, Started: time.Now(),
	}
}

// prepare notes the plan in the Result and runs its edits dry, so that a bad
// one ends the run before anything is pushed.
func (p *Promotion) prepare(ctx context.Context, plan Plan, at Situation) error {
	r := &p.result
	r.Promotion, r.Revision, r.PreviousRevision, r.Image = plan.ID, plan.To, plan.From, plan.Image
	r.PreviousImage = headline(at.Next, at.Now)
	for _, step := range plan.Steps {
		r.Steps = append(r.Steps, StepResult{Name: step.Name, Title: step.Subject, Percent: step.Percent, Progress: Pending, Resumed: step.Done})
	}
	var err error
	if r.Traffic, err = at.Now.Traffic(); err != nil {
		return err
	}
	r.Before, r.After = at.Now.Manifest, at.Now.Manifest
	p.report()
	after, err := p.rehearse(ctx, plan, at)
	if err != nil {
		return err
	}
	r.After = after.Manifest
	for _, c := range knative.Companions(at.Now, after) {
		p.say("%s runs the image too and moves with the first commit, without steps", c.Name)
	}
	p.report()
	return nil
}

// rehearse makes the first and the last edit that are left to do, in memory,
// and checks them. It returns where the plan ends. The steps between differ
// from the first one in two numbers.
func (p *Promotion) rehearse(ctx context.Context, plan Plan, at Situation) (*knative.State, error) {
	left := slices.DeleteFunc(slices.Clone(plan.Steps), func(c Change) bool { return c.Done })
	if len(left) > 2 {
		left = []Change{left[0], left[len(left)-1]}
	}
	state, next := at.Now, at.Next
	for _, step := range left {
		after, err := next.Route(ctx, plan.To, step.Traffic, nil, p.live)
		if err != nil {
			return nil, err
		}
		if err := knative.Check(state, after, knative.Intent{Images: p.Images, Also: p.Also, Revision: plan.To, Traffic: step.Traffic}); err != nil {
			return nil, err
		}
		state, next = after, after
	}
	return state, nil
}

// enter opens a step, ask and close its gates, leave closes it.
func (p *Promotion) enter(i int) {
	step := &p.result.Steps[i]
	step.Started, step.Progress = time.Now(), Running
	p.report()
}

func (p *Promotion) leave() {
	step := p.current()
	step.Ended, step.Progress = time.Now(), Passed
	p.report()
}

// current is the step that is running.
func (p *Promotion) current() *StepResult {
	i := slices.IndexFunc(p.result.Steps, func(s StepResult) bool { return s.Progress == Running })
	if i < 0 {
		return &StepResult{}
	}
	return &p.result.Steps[i]
}

// committedAs notes the commit that shows the current step.
func (p *Promotion) committedAs(hash string, resumed bool) {
	p.result.Commit = hash
	step := p.current()
	step.Commit, step.Resumed = hash, resumed
	if resumed {
		p.say("commit %.10s shows it already", hash)
	} else {
		p.result.Changed = true
		p.say("commit %.10s: %s", hash, step.Title)
	}
	p.report()
}

// open notes that a gate is asked, close what it said.
func (p *Promotion) open(gate string) *GateResult {
	step := p.current()
	step.Gates = append(step.Gates, GateResult{Name: gate, Progress: Running, Started: time.Now()})
	p.report()
	return &step.Gates[len(step.Gates)-1]
}

func (p *Promotion) close(gate *GateResult, reason string, err error) {
	gate.Ended, gate.Progress, gate.Reason = time.Now(), Passed, reason
	if err != nil {
		gate.Progress, gate.Reason = Broken, err.Error()
	}
	p.say("%s: %s: %s", gate.Name, gate.Progress, gate.Reason)
	p.report()
}

// abandon closes the step that failed and the ones that are not reached.
func (p *Promotion) abandon(i int, cause error) {
	step := &p.result.Steps[i]
	step.Ended, step.Progress = time.Now(), Broken
	if len(step.Gates) == 0 {
		step.Gates = []GateResult{{Name: "commit", Progress: Broken, Reason: cause.Error(), Started: step.Started, Ended: step.Ended}}
	}
	for j := i + 1; j < len(p.result.Steps); j++ {
		p.result.Steps[j].Progress = Skipped
	}
	p.result.Reason = cause.Error()
	p.say("%v", cause)
	p.report()
}

// end closes the Result.
func (p *Promotion) end(status Status, err error) (Result, error) {
	p.result.Status, p.result.Ended = status, time.Now()
	if err != nil {
		p.result.Reason = err.Error()
	}
	p.report()
	return p.result, err
}

// see keeps what was seen of the Application and the live Service.
func (p *Promotion) see(seen argo.Observed) {
	if seen.App != nil {
		p.app = seen.App
	}
	if seen.Service == nil {
		return
	}
	p.live = seen.Service
	if url := seen.Service.Status.URL; url != nil {
		p.result.URL = url.String()
	}
	for _, t := range seen.Service.Status.Traffic {
		if t.Tag == p.CandidateTag && t.URL != nil {
			p.result.CandidateURL = t.URL.String()
		}
	}
}

// report hands out a copy: whoever shows it may take its time.
func (p *Promotion) report() {
	r := p.result
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Gates = slices.Clone(r.Steps[i].Gates)
	}
	p.Reporter.Report(r)
}

// reached is how a run ends that passed all its gates.
func (p *Promotion) reached(plan Plan) Status {
	switch {
	case !plan.Last(len(plan.Steps) - 1):
		p.result.Reason = fmt.Sprintf("stopped at %s as asked; a run with further steps continues", plan.Steps[len(plan.Steps)-1].Name)
		return Held
	case !p.result.Changed:
		return Unchanged
	}
	return Promoted
}

// committed tells whether Git shows any step of the plan.
func (p *Promotion) committed(plan Plan) bool {
	return p.result.Changed || len(plan.Steps) > 0 && plan.Steps[0].Done
}

func (p *Promotion) say(format string, args ...any) {
	p.Reporter.Line(strings.TrimSpace(fmt.Sprintf(format, args...)))
}
