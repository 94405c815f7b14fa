package review_test

import (
	"testing"

	"github.com/acme/knative-promote/promote/review"
)

// The branch shows the merge of a rollback before the forge says of the pull request
// that it is merged: then there is nothing to close, and nothing has failed.
func TestMergeShowsLater(t *testing.T) {
	t.Parallel()
	for _, behind := range []int{1, 99} {
		w := newWorld(t)
		w.forge.behind = behind
		proposal := w.proposal("1-restore")
		proposal.Stays = true
		commit, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), proposal)
		if p := w.forge.pulls[0]; err != nil || commit.Hash != w.tip("main") || p.State != review.Merged {
			t.Errorf("shown %d looks later: published %s, %v, the pull request is %s; want the tip", behind, commit.Hash, err, p.State)
		}
	}
}

// Somebody else has made the same change.
func TestBranchShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late = 1000
	w.forge.looked = func(looks int) {
		if looks == 2 {
			w.commit("app/image", "v2")
		}
	}
	commit, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10"))
	tip := w.tip("main")
	if p := w.forge.pulls[0]; err != nil || commit.Hash != tip || p.State != review.Closed || p.comment != "The branch shows this already, at "+tip+"." {
		t.Errorf("published %s, %v, the pull request is %s: %q; want it closed", commit.Hash, err, p.State, p.comment)
	}
}
