package journal

import (
	"cmp"
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

// Reporter is told how the run goes, of one target at a time. It never decides
// anything.
type Reporter interface {
	Tell(e event.Event, all event.Result) // what has happened, and all that has up to now
	Line(text string)                     // what is waited for or was seen, for the log
	Debug(text string)                    // what is decided and from what, for the debug log
}

// A Journal has the Result of what a run does for one target, and tells the Reporter of
// every event that makes it.
type Journal struct {
	Result   event.Result
	reporter Reporter
}

// New opens the Result, of which what the run is asked for is known.
func New(asked event.Result, reporter Reporter) *Journal {
	return &Journal{Result: asked, reporter: reporter}
}

// Tell makes an event part of the Result. The Reporter gets a copy of that: it may take
// its time.
func (j *Journal) Tell(e event.Event) {
	j.Result.Add(e, time.Now())
	for _, text := range e.Lines() {
		j.Say("%s", text)
	}
	j.reporter.Tell(e, j.Result.Clone())
}

// Say prints a line into the log.
func (j *Journal) Say(format string, args ...any) {
	Say(j.reporter, format, args...)
}

// Say prints a line into the log.
func Say(reporter Reporter, format string, args ...any) {
	reporter.Line(strings.TrimSpace(fmt.Sprintf(format, args...)))
}

// Once is a way to say something that leaves out what it has just said.
func Once(say func(format string, args ...any)) func(format string, args ...any) {
	last := ""
	return func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); text != last {
			last = text
			say("%s", text)
		}
	}
}

// Warn tells what a person should know although the run ends well, unless that is known;
// empty takes an earlier warning back.
func (j *Journal) Warn(text string) {
	if text != j.Result.Warning {
		j.Tell(event.Warned{Text: text})
	}
}

// WarnToo warns of something beside what there is a warning of already; empty is nothing.
func (j *Journal) WarnToo(text string) {
	if text != "" && !strings.Contains(j.Result.Warning, text) {
		j.Warn(strings.TrimPrefix(j.Result.Warning+"; "+text, "; "))
	}
}

// Explain adds to why the run ends so.
func (j *Journal) Explain(format string, args ...any) {
	j.Tell(event.Explained{Text: fmt.Sprintf(format, args...)})
}

// Override tells what a commit is made in spite of, unless an earlier step's was too.
func (j *Journal) Override(causes []string, why string) {
	for _, c := range causes {
		if text := fmt.Sprintf("overridden: %s: %s", c, why); !strings.Contains(j.Result.Reason, text) {
			j.Explain("%s", text)
		}
	}
}

// Pull tells what becomes of a pull request with a commit of the run.
func (j *Journal) Pull(pull review.PullRequest, what string) {
	j.Tell(event.PullRequest{Number: pull.Number, URL: pull.URL, What: what})
}

// Skip closes the planned steps that are not reached.
func (j *Journal) Skip() {
	if slices.ContainsFunc(j.Result.Steps, func(s event.Step) bool { return s.Progress == event.Pending }) {
		j.Tell(event.StepsSkipped{})
	}
}

// End closes the Result.
func (j *Journal) End(status event.Status, err error) event.Result {
	ended := event.Ended{Status: status}
	if err != nil {
		ended.Reason = err.Error()
	}
	j.Tell(ended)
	return j.Result
}

// Planned is what a plan leads to, before its edits are tried.
func Planned(p plan.Plan, at plan.Situation) (event.Planned, error) {
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

// PlannedReversal is what a rollback leads to: where its destination is gone, another
// revision takes its place.
func PlannedReversal(b plan.Reversal, at plan.Situation, after plan.Edited) event.Planned {
	return event.Planned{
		Promotion: b.Plan.ID, Revision: cmp.Or(after.Carrying(), b.Dest.Revision), PreviousRevision: b.Plan.To,
		Image: plan.FirstImage(b.Dest.Images), PreviousImage: plan.FirstImage(at.Now.Images()), Traffic: b.Dest.Traffic,
	}
}

// Confirmed is what a commit has rolled back to that is only to be seen live.
func Confirmed(at plan.Situation, split knative.Split) event.Planned {
	e := event.Planned{
		Promotion: at.Record.Promotion, Revision: split.Stable, PreviousRevision: at.Record.From.Revision, Image: plan.FirstImage(at.Now.Images()),
	}
	if at.Record.Step == record.Restore {
		e.PreviousRevision = at.Record.To.Revision
	}
	return e
}

// Renders is what the overlay renders to, and what it will.
func Renders(before, after *knative.State) event.Rendered {
	return event.Rendered{Before: before.Manifest, After: after.Manifest}
}

// SeenLive is where the live Service and its candidate answer.
func SeenLive(seen argo.Observed, candidateTag string) event.Seen {
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
