package promote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/review"
)

// An edit is what a commit changes for one target.
type edit struct {
	proposal *review.Proposal                              // of the pull request that it comes by; nil: it is pushed
	adopts   func(tip, head gitops.Snapshot) (bool, error) // whether a proposal that is there is it; nil: none is
	subject  string
	trailers []gitops.Trailer
	files    func(tip gitops.Snapshot) (map[string][]byte, error) // none where the tip shows it
}

// merge makes one change of the edits of several targets. The subject names
// the first; the trailers of each begin with its promotion's.
func merge(edits []edit) gitops.Change {
	change := gitops.Change{Subject: edits[0].subject}
	if others := len(edits) - 1; others > 0 {
		change.Subject += fmt.Sprintf(", and %d more", others)
	}
	for _, e := range edits {
		change.Trailers = append(change.Trailers, e.trailers...)
	}
	change.Adopts = func(tip, head gitops.Snapshot) (bool, error) {
		for _, e := range edits {
			if e.adopts == nil {
				return false, nil
			}
			if same, err := e.adopts(tip, head); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	}
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		all := map[string][]byte{}
		for _, e := range edits {
			files, err := e.files(tip)
			if err != nil {
				return nil, err
			}
			for name := range files {
				if _, twice := all[name]; twice {
					return nil, fmt.Errorf("%s is changed for two targets: expected files of their own", name)
				}
			}
			maps.Copy(all, files)
		}
		return all, nil
	}
	return change
}

// commitRendered is commit, tried again for some time while a tip does not render: what
// somebody has broken, somebody corrects.
func (r *run) commitRendered(ctx context.Context, edits []edit, patience time.Duration) (hash string, made bool, err error) {
	for until := time.Now().Add(patience); ; {
		hash, made, err = r.commit(ctx, edits)
		if !isUnrendered(err) || !time.Now().Before(until) {
			return hash, made, err
		}
		r.say("waiting until it renders: %v", err)
		if sleep.For(ctx, min(tipPause, time.Until(until))) != nil {
			return hash, made, err
		}
	}
}

// commit publishes the edits in one commit. Where a tip shows all of them
// already it is that tip, and not what the branch has come to since: nothing is
// made.
func (r *run) commit(ctx context.Context, edits []edit) (hash string, made bool, err error) {
	if len(edits) == 0 {
		return "", false, nil
	}
	if p := edits[0].proposal; p != nil {
		commit, err := r.Reviews.Publish(ctx, merge(edits), *p)
		if errors.Is(err, gitops.ErrUnchanged) {
			return commit.Hash, false, nil
		}
		return commit.Hash, err == nil, err
	}
	change, tip := merge(edits), gitops.Commit{}
	again := change.Edit
	change.Edit = func(on gitops.Snapshot) (map[string][]byte, error) {
		if tip.Hash != "" {
			r.say("the branch has moved to %.10s, making the same edit again", on.Commit.Hash)
		}
		tip = on.Commit
		return again(on)
	}
	commit, err := r.Branch.Publish(ctx, change)
	if errors.Is(err, gitops.ErrUnchanged) {
		return tip.Hash, false, nil
	}
	return commit.Hash, err == nil, err
}
