package task

import (
	"context"

	"github.com/acme/knative-promote/cmd/knative-promote/forges"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

// A Branch is the infra repository, of which the tip may have been read already.
// The first to ask for the tip gets that one, so that what the pipeline file says
// and what is promoted are of one commit.
type Branch struct {
	*gitops.Repo
	forge *forges.Infra
	read  string // the tip's hash; empty: it was not read
	err   error  // why it could not be read
}

// Tip is the branch's newest commit.
func (i *Branch) Tip(ctx context.Context) (gitops.Snapshot, error) {
	read, err := i.read, i.err
	i.read, i.err = "", nil
	switch {
	case err != nil:
		return gitops.Snapshot{}, err
	case read != "":
		return i.At(ctx, read)
	}
	return i.Repo.Tip(ctx)
}

// Look reads the tip, and keeps it, or why it cannot be read, for the next who asks.
func (i *Branch) Look(ctx context.Context) (gitops.Snapshot, error) {
	tip, err := i.Repo.Tip(ctx)
	i.read, i.err = tip.Commit.Hash, promote.Overdue(ctx, err)
	return tip, i.err
}

// Unread tells whether the tip was asked for and could not be read.
func (i *Branch) Unread() bool { return i != nil && i.err != nil }
