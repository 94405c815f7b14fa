package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
)

// Branch is the infra repository's branch: read at its tip, changed by one
// commit at a time.
type Branch interface {
	Tip(context.Context) (gitops.Snapshot, error)
	Publish(context.Context, gitops.Change) (gitops.Commit, error)
}

// Commits are the infra repository's commits, by their full hashes.
type Commits interface {
	At(ctx context.Context, commit string) (gitops.Snapshot, error)
}

// Cluster is the Service as Argo CD shows it.
type Cluster interface {
	Live(ctx context.Context, app argo.App, source argo.Source, service string) (argo.Observed, error)
	Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error)
	Await(ctx context.Context, intent argo.Intent, report func(argo.Verdict)) (argo.Observed, error)
	Revision(ctx context.Context, app argo.App, namespace, name string) (*servingv1.Revision, error)
}

// Reporter is told how the run goes. It never decides anything.
type Reporter interface {
	Report(Result)    // a step or gate has begun or ended
	Line(text string) // what is waited for or was seen, for the log
}

// Promotion is one run.
type Promotion struct {
	Config
	Branch   Branch
	Commits  Commits
	Cluster  Cluster
	Reporter Reporter

	// Cancelled is closed when somebody cancels the run, also one whose time is
	// over. Nil: the context alone tells.
	Cancelled <-chan struct{}

	// What the check of the surroundings asks; nil: it is not asked.
	Surroundings Surroundings
	Door         Door

	result Result
	app    *v1alpha1.Application // as last seen
	live   *servingv1.Service    // the Service as last seen live
}

// Run promotes the Service: one commit a step, and after each the gates. What
// is already in Git is not done again. With DryRun it ends after the plan. The
// error says why a run did not end promoted; the Result is complete in any
// case.
func (p *Promotion) Run(ctx context.Context) (Result, error) {
	p.begin(commandPromote)
	at, err := p.look(ctx)
	if err != nil {
		return p.end(p.endOf(ctx, err), err)
	}
	plan, err := NewPlan(p.Config, at)
	if err != nil {
		return p.end(Failed, err)
	}
	if err := p.prepare(ctx, plan, at); err != nil {
		return p.end(Failed, err)
	}
	if err := p.preflight(ctx, at); err != nil {
		return p.end(Failed, err)
	}
	if p.DryRun {
		return p.end(Unchanged, nil)
	}
	for i := range plan.Steps {
		if err := p.advance(ctx, plan, i); err != nil {
			return p.fail(ctx, plan, i, err)
		}
	}
	if !plan.closed() {
		p.closeStep(ctx, plan.ID, plan.last())
	}
	return p.end(p.reached(plan), nil)
}

// advance publishes one step and asks its gates.
func (p *Promotion) advance(ctx context.Context, plan Plan, i int) error {
	step := plan.Steps[i]
	p.enter(i)
	commit, err := p.publish(ctx, plan, i)
	if err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	at := &Position{Step: step, Commit: commit, Intent: p.intent(commit, plan.expected(step))}
	for _, gate := range p.gates(step) {
		if err := p.ask(ctx, gate, at); err != nil {
			return err
		}
	}
	p.leave()
	return nil
}

// ask puts the question to one gate and notes the answer.
func (p *Promotion) ask(ctx context.Context, gate Gate, at *Position) error {
	note := p.open(gate.Name)
	reason, err := gate.Check(ctx, at)
	p.close(note, reason, err)
	if err != nil {
		return &GateError{Step: at.Step.Name, Gate: gate.Name, Err: err}
	}
	return nil
}

// fail decides what a run that cannot go on leaves behind.
func (p *Promotion) fail(ctx context.Context, plan Plan, i int, cause error) (Result, error) {
	p.abandon(i, cause)
	plan.Steps = plan.Steps[:i+1] // what comes after them is not this run's to take back
	switch {
	case isSuperseded(cause):
		return p.end(Superseded, cause)
	case p.cancelled(ctx):
		return p.cancel(ctx, plan, cause)
	case !isGate(cause), !plan.Restorable():
		return p.end(Failed, cause)
	case p.OnFailure == Hold:
		return p.end(Held, cause)
	}
	switch err := p.restore(ctx, plan, cause); {
	case isSuperseded(err):
		return p.end(Superseded, err)
	case err != nil && isGate(err) && p.cancelled(ctx):
		return p.end(Cancelled, notSeenLive(cause))
	case err != nil:
		return p.end(Failed, &RestoreError{Cause: cause, Err: err})
	}
	return p.end(RolledBack, cause)
}

// cancel stops where the last commit left the traffic, or takes it back with
// one commit that is not waited for: the runner gives ten seconds in all.
func (p *Promotion) cancel(ctx context.Context, plan Plan, cause error) (Result, error) {
	if p.OnCancel != Rollback || !plan.Restorable() {
		return p.end(Cancelled, cause)
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	back, err := p.takeBack(ctx, plan, cause)
	switch {
	case !p.committed(plan) && (err == nil || isSuperseded(err)):
		return p.end(Cancelled, cause) // the cut came before the first commit
	case err != nil:
		return p.end(Cancelled, &RestoreError{Cause: cause, Err: err})
	}
	p.announce(ctx, back)
	return p.end(Cancelled, notSeenLive(cause))
}

// cancelled tells whether somebody has cancelled the run, as its cause need not
// be context.Canceled.
func (p *Promotion) cancelled(ctx context.Context) bool {
	select {
	case <-p.Cancelled:
		return true
	default:
		return errors.Is(ctx.Err(), context.Canceled)
	}
}

// notSeenLive is the cause of a promotion's end that is taken back in Git alone, as
// far as the run knows.
func notSeenLive(cause error) error {
	return fmt.Errorf("%w; it is taken back, but not seen live", cause)
}

// announce makes Argo CD look at a commit, and sync it where nobody else does,
// but does not wait until it is live. Without that it would be seen when Argo
// CD polls, which is minutes later.
func (p *Promotion) announce(ctx context.Context, at *Position) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer stop()
	if _, err := p.Cluster.Await(ctx, at.Intent, p.sayVerdict()); err != nil {
		p.say("not waiting until that is live")
	}
}

// What is left after a cancel for one commit, and for telling Argo CD of it.
const (
	cancelTime   = 5 * time.Second
	announceTime = 2 * time.Second
)
