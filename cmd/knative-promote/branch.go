package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	change.Subject = m.redact(change.Subject)
	change.Trailers = slices.Clone(change.Trailers)
	for i, t := range change.Trailers {
		change.Trailers[i].Value = m.redact(t.Value)
	}
	return m.Branch.Publish(ctx, change)
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
