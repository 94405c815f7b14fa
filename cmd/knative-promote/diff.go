package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/report"
)

// diffCheckout compares every overlay that the checked-out commit changes
// with the branch that it is to be merged into.
func (t task) diffCheckout(ctx context.Context) error {
	r := t.console
	overlays, own, err := t.changedOverlays(ctx)
	if err != nil {
		return err
	}
	for _, file := range own {
		r.Warning(console.Note{Title: "Written by knative-promote", File: file, Text: report.OwnChanged})
	}
	for _, o := range overlays {
		r.Group(o.Path)
		r.Printf("%s", o.Difference)
		r.EndGroup()
		if o.Err != "" {
			r.Error(console.Note{Title: o.Path + " does not render", File: o.File, Text: o.Err})
		}
		for _, warning := range o.Warnings {
			r.Warning(console.Note{Title: "Knative will refuse this", File: o.File, Text: warning})
		}
	}
	r.Printf("overlays that change: %d", len(overlays))
	if err := t.writeOverlays(overlays); err != nil {
		return err
	}
	if err := r.Summarize(report.DiffSummary(overlays, own, console.SummaryLimit)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	if err := t.commentDiff(ctx, report.DiffComment(overlays, own)); err != nil {
		r.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
	}
	return unrendered(overlays)
}

// changedOverlays renders what the checkout changes, before and after. It also
// returns the changed files that are the tool's own.
func (t task) changedOverlays(ctx context.Context) (overlays []report.Overlay, own []string, err error) {
	base, head, err := t.compared(ctx)
	if err != nil {
		return nil, nil, err
	}
	changed, err := gitops.Changed(base, head)
	if err != nil {
		return nil, nil, err
	}
	touched, err := kustomize.Touched(head.Tree, changed)
	if err != nil {
		return nil, nil, err
	}
	for _, overlay := range touched {
		if o := compare(ctx, base, head, overlay); len(o.Difference) > 0 || o.Err != "" {
			overlays = append(overlays, o)
		}
	}
	return overlays, slices.DeleteFunc(changed, func(file string) bool { return !knative.Own(file) }), ctx.Err()
}

// compared are the two commits of the difference: the checked-out one, and
// where it is to be merged into.
func (t task) compared(ctx context.Context) (base, head gitops.Snapshot, err error) {
	head, err = gitops.Checkout(ctx, t.workflow.Workspace)
	if err != nil {
		return base, head, fmt.Errorf("diff without image compares the checked-out commit (in a workflow, add actions/checkout before): %w", err)
	}
	repo, err := open(t.settings, t.workflow, t.console)
	if err != nil {
		return base, head, err
	}
	base, err = baseOf(ctx, repo, head, t.workflow)
	return base, head, err
}

// baseOf is the commit to compare with: the first parent of a pull request's
// merge commit, which is newer than the base that the event names.
func baseOf(ctx context.Context, repo *gitops.Repo, head gitops.Snapshot, w console.Workflow) (gitops.Snapshot, error) {
	switch {
	case len(head.Commit.Parents) == 2:
		return repo.At(ctx, head.Commit.Parents[0])
	case w.Base != "":
		return repo.At(ctx, w.Base)
	}
	return repo.Tip(ctx)
}

// compare renders one overlay of two commits.
func compare(ctx context.Context, base, head gitops.Snapshot, overlay string) report.Overlay {
	o := report.Overlay{Path: overlay}
	if file, err := kustomize.File(head.Tree, overlay); err == nil {
		o.File = path.Join(overlay, file)
	}
	after, err := kustomize.Render(ctx, head.Tree, overlay)
	if err != nil {
		o.Err = err.Error()
		return o
	}
	before, err := kustomize.Render(ctx, base.Tree, overlay)
	if err != nil { // new, or broken before: everything in it is new
		before = nil
	}
	o.Before, o.After, o.Difference = before, after, manifest.Compare(before, after)
	if names, err := knative.Services(after); err == nil {
		o.Service = strings.Join(names, ", ")
	}
	if o.Warnings, err = knative.Pinned(before, after); err != nil {
		o.Err = err.Error()
	}
	return o
}

func (t task) commentDiff(ctx context.Context, comment string) error {
	s, w := t.settings, t.workflow
	if s.GitHubToken == "" || s.PullRequest == 0 || w.Repository == "" {
		return nil
	}
	hub, err := forgeOf(s, w, t.console)
	if err != nil {
		return err
	}
	return writeComment(ctx, hub, s.PullRequest, report.DiffMarker, comment, t.console)
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
