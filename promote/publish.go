package promote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/review"
)

// An edit is what a commit changes for one target.
type edit struct {
	proposal *review.Proposal                              // of the pull request that it comes by; nil: it is pushed
	adopts   func(tip, head gitops.Snapshot) (bool, error) // whether a proposal that is there is it; nil: none is
	subject  string
	trailers []gitops.Trailer
	draft    func(tip gitops.Snapshot) (draft, error) // which is asked of commits too that nothing is made on
}

// A draft is what an edit makes of a tip.
type draft struct {
	files    map[string][]byte         // none where the tip shows it
	traffic  []servingv1.TrafficTarget // of a step: what it sets
	reversed plan.Edited               // of what rolls back: what it leads to
	left     error                     // why the target is left out, where the others go on without it
}

// published is a commit that shows edits.
type published struct {
	commit string
	made   bool    // by this run; else it was there
	drafts []draft // of the edits, in their order
}

// merge makes one change of the edits of several targets, and passes on what they make
// of each tip. The subject names the first; the trailers of each begin with its
// promotion's.
func merge(edits []edit, drafted func(tip gitops.Snapshot, drafts []draft)) gitops.Change {
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
		var drafts []draft
		for _, e := range edits {
			d, err := e.draft(tip)
			if err != nil {
				return nil, err
			}
			drafts = append(drafts, d)
		}
		drafted(tip, drafts)
		return filesOf(drafts)
	}
	return change
}

// filesOf are those that drafts change, each one that the others do not.
func filesOf(drafts []draft) (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, d := range drafts {
		for name := range d.files {
			if _, twice := all[name]; twice {
				return nil, fmt.Errorf("%s is changed for two targets: expected files of their own", name)
			}
		}
		maps.Copy(all, d.files)
	}
	return all, nil
}

// commitRendered is commit, tried again for some time while a tip does not render: what
// somebody has broken, somebody corrects.
func (r *run) commitRendered(ctx context.Context, edits []edit, patience time.Duration) (published, error) {
	for until := time.Now().Add(patience); ; {
		p, err := r.commit(ctx, edits)
		if !plan.IsUnrendered(err) || !time.Now().Before(until) {
			return p, err
		}
		r.say("waiting until it renders: %v", err)
		if sleep.For(ctx, min(overlay.TipPause, time.Until(until))) != nil {
			return p, err
		}
	}
}

// commit publishes the edits in one commit. Where a tip shows all of them
// already it is that tip, and not what the branch has come to since: nothing is
// made.
func (r *run) commit(ctx context.Context, edits []edit) (published, error) {
	if len(edits) == 0 {
		return published{}, nil
	}
	drafts, last := map[string][]draft{}, gitops.Commit{} // by the commit that they are made on
	change := merge(edits, func(tip gitops.Snapshot, made []draft) { drafts[tip.Commit.Hash], last = made, tip.Commit })
	var commit gitops.Commit
	var err error
	if p := edits[0].proposal; p != nil {
		commit, err = r.Reviews.Publish(ctx, change, *p)
	} else {
		commit, err = r.Branch.Publish(ctx, r.telling(change))
	}
	unchanged := errors.Is(err, gitops.ErrUnchanged)
	switch {
	case err != nil && !unchanged:
		return published{}, err
	case unchanged && edits[0].proposal == nil:
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

// telling is a change that says when it is made on another tip than before.
func (r *run) telling(change gitops.Change) gitops.Change {
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
