package promote

import (
	"context"
	"testing"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/commit"
)

// moving is a Branch that another run moves on as soon as it was read.
type moving struct{}

func (moving) Tip(context.Context) (gitops.Snapshot, error) {
	return gitops.Snapshot{Commit: gitops.Commit{Hash: "newer"}}, nil
}

func (moving) Publish(_ context.Context, change gitops.Change) (gitops.Commit, error) {
	for _, hash := range []string{"older", "shows it"} {
		if _, err := change.Edit(gitops.Snapshot{Commit: gitops.Commit{Hash: hash}}); err != nil {
			return gitops.Commit{}, err
		}
	}
	return gitops.Commit{}, gitops.ErrUnchanged
}

// A step that the branch shows already is the commit that was looked at. What
// the branch came to since may be the next step of another run, and waiting
// for that to show this one would roll a good promotion back.
func TestCommitThatIsThereIsTheOneThatWasLookedAt(t *testing.T) {
	t.Parallel()
	r := &run{systems: Systems{Branch: moving{}, Reporter: silent{}}}
	got, err := r.commit(t.Context(), []commit.Edit{{Draft: func(gitops.Snapshot) (commit.Draft, error) { return commit.Draft{}, nil }}})
	if err != nil || got.commit != "shows it" || got.made {
		t.Errorf("commit %q, made %t, %v, want the one that the last edit saw", got.commit, got.made, err)
	}
}
