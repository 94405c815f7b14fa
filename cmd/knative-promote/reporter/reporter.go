// Package reporter shows a run as it goes and how it ended: in the log, the job summary and on
// the forge.
package reporter

import (
	"context"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// pageLimit is the most bytes that a pull request says of a run: of the 65,536
// characters that GitHub takes, what the trailers below it leave, of which there are
// 14 at most with a kilobyte each.
const pageLimit = 48 << 10

// Reporter shows a run as it goes: a group of the log a step, the pull
// request comment and the job summary. Nothing of it can hold the run up or
// change how it ends.
type Reporter struct {
	settings inputs.Settings
	workflow console.Workflow
	console  *console.Console
	follow   []*forges.Follower
	place    report.Place

	newest    event.Result
	preflight bool // its findings are shown
}

func New(ctx context.Context, s inputs.Settings, w console.Workflow, c *console.Console) *Reporter {
	r := &Reporter{settings: s, workflow: w, console: c, place: placeOf(s)}
	on := forges.Writer{Context: context.WithoutCancel(ctx), Settings: s, Workflow: w, Console: c}
	if s.GitHubToken != "" && w.Repository != "" {
		r.follow = append(r.follow, &forges.Follower{What: "Comment", Console: c, Begin: func() (func(event.Result) error, error) { return on.Comment(r.place) }})
	}
	if s.Statuses && !s.Promote.DryRun {
		r.follow = append(r.follow, &forges.Follower{What: "Commit status", Console: c, Begin: on.Statuses})
	}
	if s.Deployments && !s.Promote.DryRun {
		r.follow = append(r.follow, &forges.Follower{What: "Deployment", Console: c, Begin: on.Deployments})
	}
	return r
}

// placeOf is what the pages say of where the promotion happens.
func placeOf(s inputs.Settings) report.Place {
	return report.Place{
		Target: s.Remote.URL + " " + s.Remote.Branch, CommitURL: repourl.Read(s.Remote.URL).CommitURL(),
		RollbackTo: s.RollbackTo, RollbackNeeds: s.RollbackNeeds(),
	}
}

// Tell opens the group of the step that has begun, and passes on what the comment
// should show: how far the steps have come, not every gate.
func (r *Reporter) Tell(e event.Event, all event.Result) {
	r.newest = all
	switch e := e.(type) {
	case event.Found:
		if len(e.Findings) > 0 && !r.preflight {
			r.preflight = true
			showPreflight(r.settings, r.console, r.workflow, e.Findings)
		}
	case event.StepBegan:
		r.console.Group(all.Steps[e.Step].Title)
		r.show(all)
	case event.ReversalBegan:
		r.console.Group(e.Title)
		r.show(all)
	case event.Planned:
		if len(all.Steps) > 0 {
			r.show(all)
		}
	case event.StepPassed, event.StepFailed, event.StepHeld, event.StepsSkipped:
		r.show(all)
	}
}

// show gives the summary and the forge what the run is so far. A run that is killed
// leaves this summary; the end says what is wrong with the last one.
func (r *Reporter) show(all event.Result) {
	_ = r.summarize(all)
	r.offer(all)
}

// Line prints into the open group.
func (r *Reporter) Line(text string) { r.console.Printf("%s", text) }

// Debug prints where debug logging is on.
func (r *Reporter) Debug(text string) { r.console.Debugf("%s", text) }

// Page is what a pull request in the infra repository says of the run.
func (r *Reporter) Page() string {
	return r.console.Redact(report.Summary(r.newest, r.place, pageLimit))
}

func (r *Reporter) summarize(result event.Result) error {
	return r.console.Summarize(report.Summary(result, r.place, console.SummaryLimit))
}

// End writes the last state of the comment and the summary.
func (r *Reporter) End(ctx context.Context, result event.Result, err error) (event.Result, error) {
	r.console.EndGroup()
	if (result.DryRun || result.Command == inputs.Diff) && len(result.Difference) > 0 {
		r.console.Printf("%s", result.Difference)
	}
	r.console.Printf("%s", inWords(result))
	if hint := after(r.settings, result, err); hint != "" {
		r.console.Printf("%s", hint)
	}
	if err := r.summarize(result); err != nil {
		r.console.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	r.offer(result)
	for _, f := range r.follow {
		f.End(ctx)
	}
	return result, err
}

func (r *Reporter) offer(result event.Result) {
	for _, f := range r.follow {
		f.Offer(result)
	}
}

// parenthesised is a text in parentheses, unless it is empty.
func parenthesised(text string) string {
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// inWords is how the run ended, in one line.
func inWords(result event.Result) string {
	what := strings.TrimSpace(result.Service + " " + result.Environment)
	if result.DryRun && result.Status == event.Unchanged {
		return what + ": nothing was changed, this was only a plan"
	}
	switch result.Status {
	case event.Promoted:
		return what + ": promoted, all traffic goes to " + result.Revision + " (" + result.Image + ")"
	case event.RolledBack:
		if result.Command == event.CommandRollback {
			return what + ": rolled back to " + strings.TrimSpace(result.Revision+" "+parenthesised(result.Image))
		}
		return what + ": rolled back"
	case event.Unchanged:
		if result.Changed {
			return what + ": committed, no traffic has moved"
		}
		return what + ": nothing was changed"
	}
	return what + ": " + string(result.Status)
}
