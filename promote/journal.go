package promote

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// A journal has the Result of what a run does for one target, and tells the Reporter of
// every event that makes it.
type journal struct {
	result   event.Result
	reporter Reporter
}

// newJournal opens the Result.
func newJournal(command event.Command, c Config, started time.Time, reporter Reporter) *journal {
	if c.DryRun && command == event.CommandPromote {
		command = event.CommandDiff
	}
	j := &journal{reporter: reporter, result: event.Result{
		Command: command, DryRun: c.DryRun,
		RunURL: c.RunURL, Actor: c.Actor, Approved: c.Approved, Started: started,
	}}
	if command == event.CommandRollback {
		j.result.Reason = c.Reason
	}
	return j
}

// tell makes an event part of the Result. The Reporter gets a copy of that: it may take
// its time.
func (j *journal) tell(e event.Event) {
	j.result.Add(e, time.Now())
	for _, text := range e.Lines() {
		j.say("%s", text)
	}
	j.reporter.Tell(e, j.result.Clone())
}

// say prints a line into the log.
func (j *journal) say(format string, args ...any) {
	say(j.reporter, format, args...)
}

// say prints a line into the log.
func say(reporter Reporter, format string, args ...any) {
	reporter.Line(strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// warn tells what a person should know although the run ends well, unless that is known;
// empty takes an earlier warning back.
func (j *journal) warn(text string) {
	if text != j.result.Warning {
		j.tell(event.Warned{Text: text})
	}
}

// explain adds to why the run ends so.
func (j *journal) explain(format string, args ...any) {
	j.tell(event.Explained{Text: fmt.Sprintf(format, args...)})
}

// override tells what a commit is made in spite of, unless an earlier step's was too.
func (j *journal) override(causes []string, why string) {
	for _, c := range causes {
		if text := fmt.Sprintf("overridden: %s: %s", c, why); !strings.Contains(j.result.Reason, text) {
			j.explain("%s", text)
		}
	}
}

// pull tells what becomes of a pull request with a commit of the run.
func (j *journal) pull(pull review.PullRequest, what string) {
	j.tell(event.PullRequest{Number: pull.Number, URL: pull.URL, What: what})
}

// skip closes the planned steps that are not reached.
func (j *journal) skip() {
	if slices.ContainsFunc(j.result.Steps, func(s event.Step) bool { return s.Progress == event.Pending }) {
		j.tell(event.StepsSkipped{})
	}
}

// end closes the Result.
func (j *journal) end(status event.Status, err error) event.Result {
	ended := event.Ended{Status: status}
	if err != nil {
		ended.Reason = err.Error()
	}
	j.tell(ended)
	return j.result
}

// planned is what a plan leads to, before its edits are tried.
func planned(p plan.Plan, at plan.Situation) (event.Planned, error) {
	e := event.Planned{
		Promotion: p.ID, Revision: p.To, PreviousRevision: p.From, RollbackTo: p.From,
		Image: p.Image, PreviousImage: plan.NewImage(at.Next, at.Now),
	}
	for _, step := range p.Steps {
		e.Steps = append(e.Steps, event.Step{Name: step.Name, Title: step.Subject, Percent: step.Percent, Progress: event.Pending, Resumed: step.Done})
	}
	var err error
	e.Traffic, err = at.Now.Traffic()
	return e, err
}

// planned is what a rollback leads to.
func (b *reversal) planned(at plan.Situation) event.Planned {
	return event.Planned{
		Promotion: b.Plan.ID, Revision: b.Dest.Revision, PreviousRevision: b.Plan.To,
		Image: plan.FirstImage(b.Dest.Images), PreviousImage: plan.FirstImage(at.Now.Images()), Traffic: b.Dest.Traffic,
	}
}

// confirmed is what a commit has rolled back to that is only to be seen live.
func confirmed(at plan.Situation, split knative.Split) event.Planned {
	e := event.Planned{
		Promotion: at.Record.Promotion, Revision: split.Stable, PreviousRevision: at.Record.From.Revision, Image: plan.FirstImage(at.Now.Images()),
	}
	if at.Record.Step == record.Restore {
		e.PreviousRevision = at.Record.To.Revision
	}
	return e
}

// renders is what the overlay renders to, and what it will.
func renders(before, after *knative.State) event.Rendered {
	return event.Rendered{Before: before.Manifest, After: after.Manifest}
}

// seenLive is where the live Service and its candidate answer.
func seenLive(seen argo.Observed, candidateTag string) event.Seen {
	status := seen.Service.Status
	e := event.Seen{Served: status.Traffic}
	if status.URL != nil {
		e.URL = status.URL.String()
	}
	for _, t := range status.Traffic {
		if t.Tag == candidateTag && t.URL != nil {
			e.CandidateURL = t.URL.String()
		}
	}
	return e
}
