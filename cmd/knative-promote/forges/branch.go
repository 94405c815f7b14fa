package forges

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

// Masked keeps secrets out of what commits say in words: a reason may quote
// what a user passed on by mistake, or a foreign server's answer.
type Masked struct {
	promote.Branch
	Redact func(string) string
}

// Publish has the branch publish the change without secrets.
func (m Masked) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	return m.Branch.Publish(ctx, maskedChange(change, m.Redact))
}

func maskedChange(change gitops.Change, redact func(string) string) gitops.Change {
	change.Subject = redact(change.Subject)
	change.Trailers = slices.Clone(change.Trailers)
	for i, t := range change.Trailers {
		change.Trailers[i].Value = redact(t.Value)
	}
	return change
}

// Traced prints each try of an edit as a line of debug: the tip, the files,
// and how long it took to render and to verify them.
type Traced struct {
	promote.Branch
	Console *console.Console
}

// Publish has the branch publish the change, and each try of it printed.
func (t Traced) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	return t.Branch.Publish(ctx, tracedChange(change, t.Console))
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

// CheckedOut is the commit that the workflow has checked out.
type CheckedOut struct{ Folder string }

// Tip is that commit.
func (c CheckedOut) Tip(ctx context.Context) (gitops.Snapshot, error) {
	tip, err := gitops.Checkout(ctx, c.Folder)
	if err != nil {
		return tip, fmt.Errorf("without repository the checked-out commit is looked at (in a workflow, add actions/checkout before): %w", err)
	}
	return tip, nil
}

// Publish refuses.
func (CheckedOut) Publish(context.Context, gitops.Change) (gitops.Commit, error) {
	return gitops.Commit{}, errors.New("a checked-out commit is only looked at")
}
