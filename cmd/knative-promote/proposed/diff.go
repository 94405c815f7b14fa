package proposed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/manifests"
	"github.com/acme/knative-promote/cmd/knative-promote/reporter"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// Diff shows what the checked-out commit changes, against the branch that
// it is to be merged into, and what would be wrong then.
func Diff(ctx context.Context, t task.Task) (event.Result, error) {
	diff, refused, err := proposed(ctx, t)
	if err == nil {
		showDiff(t, diff)
		err = manifests.Write(t.Console, t.Settings.Manifests, written(diff.Overlays)...)
	}
	if err != nil {
		return t.Looked(ctx, err)
	}
	r := t.Console
	if err := r.Summarize(report.DiffSummary(diff, console.SummaryLimit)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	if err := commentDiff(ctx, t, report.DiffMarker, report.DiffComment(diff)); err != nil {
		r.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
	}
	result, err := t.Looked(ctx, cmp.Or(refused, unrendered(diff.Overlays), exit.Found(inputs.FailOnError, diff.Findings())))
	result.Findings = diff.Findings()
	return result, err
}

// showDiff prints what changes, and what is wrong then.
func showDiff(t task.Task, diff report.Diff) {
	r := t.Console
	for _, note := range diff.Notes() {
		for _, file := range note.Files {
			text := note.Text
			if says := file.Says(); says != "" {
				text += " It now says: " + oneline.Of(says, 1000)
			}
			r.Warning(console.Note{Title: note.Title, File: file.File, Text: text})
		}
	}
	showFile(t, report.FileChange{Findings: slices.Concat(diff.Checkout, diff.Records)})
	for _, change := range append(diff.Windows, diff.Pipeline) {
		showFile(t, change)
	}
	for _, o := range diff.Overlays {
		showOverlay(t, o)
	}
	reporter.Annotate(r, diff.Findings(), true, event.SeverityError)
	changed := 0
	for _, o := range diff.Overlays {
		if o.Changes() {
			changed++
		}
	}
	if len(diff.Alike) > 0 {
		r.Printf("folders that change as what builds on them shows: %s", oneline.Of(strings.Join(diff.Alike, ", "), 1000))
	}
	r.Printf("overlays that change: %d", changed)
}

func showFile(t task.Task, w report.FileChange) {
	for _, f := range w.Findings {
		t.Console.Printf("%s", f.Text())
	}
	for _, entry := range w.Removed {
		t.Console.Printf("%s: removed: %s", w.File, entry)
	}
	for _, entry := range w.Added {
		t.Console.Printf("%s: added: %s", w.File, entry)
	}
}

func showOverlay(t task.Task, o report.Overlay) {
	r := t.Console
	r.Group(o.Path)
	for _, file := range o.From {
		r.Printf("changed by %s", oneline.Of(file, 1000))
	}
	if len(o.Difference) > 0 {
		r.Printf("%s", o.Difference)
	}
	if len(o.Later) > 0 {
		r.Printf("changed by the next promotion:\n%s", o.Later)
	}
	for _, f := range o.Findings {
		r.Printf("%s", f.Text())
	}
	r.EndGroup()
	if len(o.Later) > 0 {
		r.Warning(console.Note{Title: o.Path + " changes later", File: o.File, Text: report.LaterText})
	}
	if o.Err != "" {
		r.Error(console.Note{Title: o.Path + " does not render", File: o.File, Text: o.Err})
	}
	if o.Large != "" {
		r.Error(console.Note{Title: o.Path + " is too large", File: o.File, Text: o.Large})
	}
	for _, warning := range o.Warnings {
		r.Warning(console.Note{Title: "Knative will refuse this", File: o.File, Text: warning})
	}
}

// commentDiff writes the comment that has the marker on the event's pull request, where
// there is one.
func commentDiff(ctx context.Context, t task.Task, marker, text string) error {
	s, w := t.Settings, t.Workflow
	if s.GitHubToken == "" || s.PullRequest == 0 || w.Repository == "" {
		return nil
	}
	hub, err := forges.Open(s, w, t.Console)
	if err != nil {
		return err
	}
	return forges.WriteComment(ctx, hub, s.PullRequest, marker, text, t.Console)
}

// unrendered is the error of overlays that do not render, or would not with as much again.
func unrendered(overlays []report.Overlay) error {
	var all []error
	for _, o := range overlays {
		if o.Err != "" {
			all = append(all, fmt.Errorf("overlay %s does not render: %s", o.Path, o.Err))
		}
		if o.Large != "" {
			all = append(all, fmt.Errorf("overlay %s is too large: %s", o.Path, o.Large))
		}
	}
	return errors.Join(all...)
}

// written are the manifests of the overlays that change and render.
func written(overlays []report.Overlay) (all []manifests.Rendered) {
	for _, o := range overlays {
		if len(o.Difference) > 0 && o.Err == "" {
			all = append(all, manifests.Rendered{Overlay: o.Path, Before: o.Before, After: o.After})
		}
	}
	return all
}
