package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/report"
)

// reporter shows a run as it goes: a group of the log a step, the pull
// request comment and the job summary. Nothing of it can hold the run up or
// change how it ends.
type reporter struct {
	runner *console.Console
	group  string
	shown  string // how far the steps have come in the comment

	results chan promote.Result // newest state of the comment, at most one
	closing chan struct{}       // the last state is offered
	done    chan struct{}       // it is written
	place   report.Place
	after   func(promote.Result, error) string
	found   func([]check.Finding)
}

// newReporter starts the writer of the comment.
func newReporter(ctx context.Context, s inputs.Settings, w console.Workflow, r *console.Console) *reporter {
	show := &reporter{
		runner: r, results: make(chan promote.Result, 1), closing: make(chan struct{}), done: make(chan struct{}),
		place: placeOf(s),
		after: func(result promote.Result, err error) string { return after(s, result, err) },
		found: once(func(found []check.Finding) { showPreflight(s, r, w, found) }),
	}
	go show.comment(context.WithoutCancel(ctx), s, w)
	return show
}

// placeOf is what the pages say of where the promotion happens.
func placeOf(s inputs.Settings) report.Place {
	return report.Place{
		Target: s.Remote.URL + " " + s.Remote.Branch, CommitURL: inputs.CommitURL(s.Remote.URL),
		Undo: s.RollbackCommand(), UndoNeeds: s.RollbackNeeds(),
	}
}

// Report opens the group of the step that has begun, and passes on what the
// comment should show: a step that begins or ends, not every gate.
func (r *reporter) Report(result promote.Result) {
	if len(result.Findings) > 0 {
		r.found(result.Findings)
	}
	var steps []promote.Progress
	for _, step := range result.Steps {
		steps = append(steps, step.Progress)
		if step.Progress == promote.Running && step.Title != r.group {
			r.group = step.Title
			r.runner.Group(step.Title)
		}
	}
	if now := fmt.Sprint(steps); now != r.shown && len(steps) > 0 {
		r.shown = now
		// A run that is killed leaves this summary; the end says what is wrong with the last one.
		_ = r.summarize(result)
		r.offer(result)
	}
}

// Line prints into the open group.
func (r *reporter) Line(text string) { r.runner.Printf("%s", text) }

func (r *reporter) summarize(result promote.Result) error {
	return r.runner.Summarize(report.Summary(result, r.place, console.SummaryLimit))
}

// offer puts the newest state in the place of one that was not written yet.
func (r *reporter) offer(result promote.Result) {
	select {
	case <-r.results:
	default:
	}
	r.results <- result
}

// How long the end of a run waits for its comment, and how long one write
// comes after another, as GitHub asks for. A cancelled run has ten seconds in
// all.
const (
	commentTime       = 15 * time.Second
	commentTimeCancel = time.Second
	commentPause      = time.Second
)

// end writes the last state of the comment and the summary.
func (r *reporter) end(ctx context.Context, result promote.Result, err error) (promote.Result, error) {
	r.runner.EndGroup()
	if (result.DryRun || result.Command == string(inputs.Diff)) && len(result.Difference) > 0 {
		r.runner.Printf("%s", result.Difference)
	}
	r.runner.Printf("%s", inWords(result))
	if hint := r.after(result, err); hint != "" {
		r.runner.Printf("%s", hint)
	}
	if err := r.summarize(result); err != nil {
		r.runner.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	r.offer(result)
	close(r.results)
	close(r.closing)
	wait := commentTime
	if ctx.Err() != nil {
		wait = commentTimeCancel
	}
	select {
	case <-r.done:
	case <-time.After(wait):
		r.runner.Warning(console.Note{Title: "Comment not written", Text: "the GitHub API took too long"})
	}
	return result, err
}

// comment writes every state that is offered to the pull request.
func (r *reporter) comment(ctx context.Context, s inputs.Settings, w console.Workflow) {
	defer close(r.done)
	var hub forge
	pull, warned := 0, false
	for result := range r.results {
		var err error
		if hub == nil && s.GitHubToken != "" && w.Repository != "" && !warned {
			hub, pull, err = commentPlace(ctx, s, w)
		}
		if err == nil && hub != nil && pull > 0 {
			marker := report.Marker(result, r.place)
			// The comment is found by its marker, whatever words are secrets.
			body := strings.TrimPrefix(report.Comment(result, r.place), marker)
			err = hub.Upsert(ctx, pull, marker, marker+r.runner.Redact(body))
		}
		if err != nil && !warned {
			warned = true
			r.runner.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
		}
		select {
		case <-time.After(commentPause):
		case <-r.closing:
		}
	}
}

// commentPlace finds where the comment belongs: 0 where there is no pull
// request.
func commentPlace(ctx context.Context, s inputs.Settings, w console.Workflow) (forge, int, error) {
	hub, err := forgeOf(s, w)
	if err != nil || s.PullRequest > 0 || w.SHA == "" {
		return hub, s.PullRequest, err
	}
	pull, err := hub.PullRequestOf(ctx, w.SHA)
	return hub, pull, err
}

// inWords is how the run ended, in one line.
func inWords(result promote.Result) string {
	what := strings.TrimSpace(result.Service + " " + result.Environment)
	if result.DryRun && result.Status == promote.Unchanged {
		return what + ": nothing was changed, this was only a plan"
	}
	switch result.Status {
	case promote.Promoted:
		return what + ": promoted, all traffic goes to " + result.Revision + " (" + result.Image + ")"
	case promote.RolledBack:
		return what + ": rolled back"
	case promote.Unchanged:
		return what + ": nothing was changed"
	}
	return what + ": " + string(result.Status)
}

// once runs show for its first argument only.
func once[T any](show func(T)) func(T) {
	var first sync.Once
	return func(value T) { first.Do(func() { show(value) }) }
}
