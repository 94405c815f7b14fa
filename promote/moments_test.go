package promote

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
)

// meanwhile is a branch and its commits where something happens right before a push,
// and where reading a commit fails for once.
type meanwhile struct {
	*model
	before func()
	unread bool
}

func (b *meanwhile) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	if do := b.before; do != nil {
		b.before = nil
		do()
	}
	return b.model.Publish(ctx, change)
}

func (b *meanwhile) At(ctx context.Context, commit string) (gitops.Snapshot, error) {
	if b.unread {
		b.unread = false
		return gitops.Snapshot{}, errors.New("no answer")
	}
	return b.model.At(ctx, commit)
}

func (b *meanwhile) promote(t *testing.T, version string, steps ...plan.Step) (event.Status, error) {
	t.Helper()
	c := b.config
	c.Images, c.Steps, c.KeepPrevious, c.OnFailure = []kustomize.Image{{Name: "web", NewTag: version}}, steps, true, RollBack
	on := b.systems()
	on.Branch, on.Commits = b, b
	results, err := Run(t.Context(), c, on)
	return results[0].Status, err
}

// peaceful is a model in which nothing happens by itself.
func peaceful() *meanwhile {
	m := newModel(1)
	m.peace, m.bad = true, 101
	return &meanwhile{model: m}
}

// TestReadyAgain has the old revision crash, so that the new one is to get all traffic
// in one step, and be Ready again right before that commit. The next run goes in steps.
func TestReadyAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := peaceful()
		b.sync(t.Context())
		b.cluster.crash("web-00001")
		b.before = func() { b.cluster.revisions["web-00001"].why = "" }
		if status, err := b.promote(t, "v2", plan.Step{Percent: 10}, plan.Step{Percent: 100}); status != event.Failed || !errors.Is(err, errReadyAgain) {
			t.Errorf("ends %s: %v", status, err)
		}
		if len(b.commits) != 1 {
			t.Errorf("%d commits were made", len(b.commits)-1)
		}
		if status, err := b.promote(t, "v2", plan.Step{Percent: 10}, plan.Step{Percent: 100}); status != event.Promoted {
			t.Errorf("the next run ends %s: %v", status, err)
		}
	})
}

// TestWrittenUnread has the kept revision crash right before a commit, which leaves it
// out, and the commit not be readable: what was written is waited for.
func TestWrittenUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := peaceful()
		if status, err := b.promote(t, "v2", plan.Step{Percent: 100}); status != event.Promoted {
			t.Fatalf("ends %s: %v", status, err)
		}
		b.before = func() { b.unread = b.cluster.crash("web-00001") }
		if status, err := b.promote(t, "v3", plan.Step{Percent: 10}, plan.Step{Percent: 100}); status != event.Promoted || b.unread {
			t.Errorf("ends %s: %v", status, err)
		}
	})
}
