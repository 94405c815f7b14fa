package review_test

import (
	"testing"

	"github.com/acme/knative-promote/promote/review"
)

const proposal = "promote-web-prod.1-10"

// evil puts more into the commit of the pull request, as a forced push does, and returns it.
func (w *world) evil(on string) string {
	w.t.Helper()
	w.push(proposal, "other/image", "evil")
	commit := w.git("-c", "user.name=E", "-c", "user.email=e@example.com", "commit-tree", proposal+"^{tree}", "-m", "More", "-p", on)
	w.git("update-ref", "refs/heads/"+proposal, commit)
	return commit
}

// TestNothingForeignIsMergedWhileGitIsBehind has the forge name a head at one look, while what
// reads Git has the run's own: it is another replica, or somebody has put it back.
func TestNothingForeignIsMergedWhileGitIsBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("app/list", list("first"))
	var own, evil string
	w.forge.late = 4
	w.forge.looked = func(looks int) {
		switch looks {
		case 2:
			own = w.tip(proposal)
			evil = w.evil("main")
		case 3:
			w.git("update-ref", "refs/heads/"+proposal, evil)
		}
	}
	w.forge.seen = func(looks int) {
		if looks == 2 {
			w.git("update-ref", "refs/heads/"+proposal, own)
		}
	}
	_, err := w.reviews(review.Auto).Publish(t.Context(), named("v2"), w.proposal("1-10"))
	if got := w.git("ls-tree", "--name-only", "main", "other/"); err == nil || got != "" {
		t.Errorf("error %v; main has %s", err, got)
	}
}

// TestNothingForeignIsMergedAfterARevert has the branch show the change when somebody pushes, and show
// it no more at the next look.
func TestNothingForeignIsMergedAfterARevert(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.commit("app/list", list("first"))
	w.forge.late = 4
	before := ""
	byHand := func(tree string) {
		w.git("update-ref", "refs/heads/main", w.git("-c", "user.name=P", "-c", "user.email=p@example.com", "commit-tree", tree, "-m", "By hand", "-p", "main"))
	}
	w.forge.looked = func(looks int) {
		switch looks {
		case 2:
			before = w.tip("main")
			byHand(w.git("rev-parse", proposal+"^{tree}"))
			w.evil(before)
		case 3:
			byHand(w.git("rev-parse", before+"^{tree}"))
		}
	}
	_, err := w.reviews(review.Auto).Publish(t.Context(), named("v2"), w.proposal("1-10"))
	if got := w.git("ls-tree", "--name-only", "main", "other/"); err == nil || got != "" {
		t.Errorf("error %v; main has %s", err, got)
	}
}

// TestNothingIsTakenBackByAMerge has somebody make the head a merge of main's tip and an older
// commit, with what that one would be with the change: it undoes what came between.
func TestNothingIsTakenBackByAMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	older := w.tip("main")
	w.commit("other/policy", "strict")
	w.forge.late = 4
	w.forge.looked = func(looks int) {
		if looks == 2 {
			w.git("update-ref", "refs/heads/old", older)
			w.push("old", "app/image", "v2")
			tree := w.git("rev-parse", "old^{tree}")
			w.git("update-ref", "refs/heads/"+proposal, w.git("-c", "user.name=E", "-c", "user.email=e@example.com", "commit-tree", tree, "-m", "Merge", "-p", "main", "-p", older))
		}
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err == nil && len(w.forge.pulls) == 1 {
		t.Error("it was merged")
	}
	if got := w.git("show", "main:other/policy"); got != "strict" {
		t.Errorf("main has the policy %q", got)
	}
}
