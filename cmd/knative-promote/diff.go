package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/forges"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// diffCheckout shows what the checked-out commit changes, against the branch that
// it is to be merged into, and what would be wrong then.
func (t task) diffCheckout(ctx context.Context) (event.Result, error) {
	diff, refused, err := t.proposed(ctx)
	if err == nil {
		showDiff(t, diff)
		err = writeOverlays(t, diff.Overlays)
	}
	if err != nil {
		return t.looked(ctx, err)
	}
	r := t.console
	if err := r.Summarize(report.DiffSummary(diff, console.SummaryLimit)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	if err := commentDiff(ctx, t, report.DiffMarker, report.DiffComment(diff)); err != nil {
		r.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
	}
	result, err := t.looked(ctx, cmp.Or(refused, unrendered(diff.Overlays), errorsIn(diff.Findings())))
	result.Findings = diff.Findings()
	return result, err
}

// showDiff prints what changes, and what is wrong then.
func showDiff(t task, diff report.Diff) {
	r := t.console
	for _, file := range diff.Own {
		r.Warning(console.Note{Title: "Written by knative-promote", File: file, Text: report.OwnChanged})
	}
	showFile(t, diff.Windows)
	showFile(t, diff.Pipeline)
	for _, o := range diff.Overlays {
		showOverlay(t, o)
	}
	annotate(r, diff.Findings(), true, event.SeverityError)
	changed := 0
	for _, o := range diff.Overlays {
		if o.Changes() {
			changed++
		}
	}
	r.Printf("overlays that change: %d", changed)
}

func showFile(t task, w report.FileChange) {
	for _, f := range w.Findings {
		t.console.Printf("%s", f.Text())
	}
	for _, entry := range w.Removed {
		t.console.Printf("%s: removed: %s", w.File, entry)
	}
	for _, entry := range w.Added {
		t.console.Printf("%s: added: %s", w.File, entry)
	}
}

func showOverlay(t task, o report.Overlay) {
	r := t.console
	r.Group(o.Path)
	if len(o.Difference) > 0 {
		r.Printf("%s", o.Difference)
	}
	for _, f := range o.Findings {
		r.Printf("%s", f.Text())
	}
	r.EndGroup()
	if o.Err != "" {
		r.Error(console.Note{Title: o.Path + " does not render", File: o.File, Text: o.Err})
	}
	for _, warning := range o.Warnings {
		r.Warning(console.Note{Title: "Knative will refuse this", File: o.File, Text: warning})
	}
}

// commentDiff writes the comment that has the marker on the event's pull request, where
// there is one.
func commentDiff(ctx context.Context, t task, marker, text string) error {
	s, w := t.settings, t.workflow
	if s.GitHubToken == "" || s.PullRequest == 0 || w.Repository == "" {
		return nil
	}
	hub, err := forges.Open(s, w, t.console)
	if err != nil {
		return err
	}
	return forges.WriteComment(ctx, hub, s.PullRequest, marker, text, t.console)
}

// unrendered is the error of overlays that do not render.
func unrendered(overlays []report.Overlay) error {
	var all []error
	for _, o := range overlays {
		if o.Err != "" {
			all = append(all, fmt.Errorf("overlay %s does not render: %s", o.Path, o.Err))
		}
	}
	return errors.Join(all...)
}

// errorsIn is the error of findings that would break a promotion.
func errorsIn(findings []event.Finding) error {
	if event.Count(findings, event.SeverityError) == 0 {
		return nil
	}
	return &foundError{exitErrors, event.Tally(findings)}
}
