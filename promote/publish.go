package promote

import (
	"context"
	"errors"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
)

// published is a commit that shows edits.
type published struct {
	commit string
	made   bool           // by this run; else it was there
	drafts []commit.Draft // of the edits, in their order
}

// commitUsable is commit, tried again for some time while its error may pass.
func (r *run) commitUsable(ctx context.Context, edits []commit.Edit, patience time.Duration) (published, error) {
	for until, say := time.Now().Add(patience), journal.Once(r.say); ; {
		p, err := r.commit(ctx, edits)
		if err == nil || !plan.MayPass(err, r.committed()) || !time.Now().Before(until) {
			return p, err
		}
		say("waiting until somebody corrects it: %v", err)
		if sleep.For(ctx, min(overlay.TipPause, time.Until(until))) != nil {
			return p, err
		}
	}
}

// commit publishes the edits in one commit. Where a tip shows all of them
// already it is that tip, and not what the branch has come to since: nothing is
// made.
func (r *run) commit(ctx context.Context, edits []commit.Edit) (published, error) {
	if len(edits) == 0 {
		return published{}, nil
	}
	drafts, last := map[string][]commit.Draft{}, gitops.Commit{} // by the commit that they are made on
	change := commit.Merge(edits, func(tip gitops.Snapshot, made []commit.Draft) { drafts[tip.Commit.Hash], last = made, tip.Commit })
	var commit gitops.Commit
	var err error
	if p := edits[0].Proposal; p != nil {
		commit, err = r.systems.Reviews.Publish(ctx, change, *p)
	} else {
		commit, err = r.systems.Branch.Publish(ctx, tellingMoves(r, change))
	}
	unchanged := errors.Is(err, gitops.ErrUnchanged)
	switch {
	case err != nil && !unchanged:
		return published{}, err
	case unchanged && edits[0].Proposal == nil:
		commit = last
	}
	p := published{commit: commit.Hash, made: !unchanged, drafts: drafts[last.Hash]}
	for _, on := range append([]string{commit.Hash}, commit.Parents...) {
		if made, found := drafts[on]; found {
			p.drafts = made
			break
		}
	}
	return p, nil
}

// tellingMoves is a change that says when it is made on another tip than before.
func tellingMoves(r *run, change gitops.Change) gitops.Change {
	tip, edit := "", change.Edit
	change.Edit = func(on gitops.Snapshot) (map[string][]byte, error) {
		if tip != "" {
			r.say("the branch has moved to %.10s, making the same edit again", on.Commit.Hash)
		}
		tip = on.Commit.Hash
		return edit(on)
	}
	return change
}
