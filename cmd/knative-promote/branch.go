package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

// masked keeps secrets out of what commits say in words: a reason may quote
// what a user passed on by mistake, or a foreign server's answer.
type masked struct {
	promote.Branch
	redact func(string) string
}

func (m masked) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	return m.Branch.Publish(ctx, maskedChange(change, m.redact))
}

func maskedChange(change gitops.Change, redact func(string) string) gitops.Change {
	change.Subject = redact(change.Subject)
	change.Trailers = slices.Clone(change.Trailers)
	for i, t := range change.Trailers {
		change.Trailers[i].Value = redact(t.Value)
	}
	return change
}

// tracedEdits prints each try of an edit as a line of debug: the tip, the files,
// and how long it took to render and to verify them.
type tracedEdits struct {
	promote.Branch
	console *console.Console
}

func (t tracedEdits) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	return t.Branch.Publish(ctx, tracedChange(change, t.console))
}

func tracedChange(change gitops.Change, c *console.Console) gitops.Change {
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		began := time.Now()
		files, err := edit(tip)
		made := "changes " + strings.Join(slices.Sorted(maps.Keys(files)), ", ")
		switch {
		case err != nil:
			made = err.Error()
		case len(files) == 0:
			made = "changes nothing"
		}
		c.Debugf("edit on %.10s: %s in %s", tip.Commit.Hash, made, time.Since(began).Round(time.Millisecond))
		return files, err
	}
	return change
}

// checkedOut is the commit that the workflow has checked out.
type checkedOut struct{ folder string }

func (c checkedOut) Tip(ctx context.Context) (gitops.Snapshot, error) {
	tip, err := gitops.Checkout(ctx, c.folder)
	if err != nil {
		return tip, fmt.Errorf("without repository the checked-out commit is looked at (in a workflow, add actions/checkout before): %w", err)
	}
	return tip, nil
}

func (checkedOut) Publish(context.Context, gitops.Change) (gitops.Commit, error) {
	return gitops.Commit{}, errors.New("a checked-out commit is only looked at")
}
