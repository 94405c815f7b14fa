package review_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/acme/knative-promote/promote/review"
)

// A forge may be away for a while.
func TestForgeAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.late = 1
	w.forge.looked = func(looks int) {
		w.forge.away = nil
		if slices.Contains([]int{2, 3, 4}, looks) {
			w.forge.away = errors.New("502 Bad Gateway")
		}
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err != nil {
		t.Error(err)
	}
	w = newWorld(t)
	w.forge.closed = 8
	w.forge.looked = func(looks int) {
		w.forge.away = nil
		if looks < 8 {
			w.forge.away = &review.AwayError{Err: errors.New("502 Bad Gateway")}
		}
	}
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err != nil {
		t.Error(err)
	}
	w = newWorld(t)
	w.forge.looked = func(int) { w.forge.away = errors.New("401 Unauthorized") }
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err == nil || err.Error() != "401 Unauthorized" {
		t.Errorf("error %v, want 401 Unauthorized", err)
	}
}

// Between a look at the pull request and one at the branch, somebody merges it, or
// makes the same change.
func TestNeedless(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before   func(*world) // the first look
		do       func(*world) // after it
		ends     review.State
		comments bool
	}{
		"merged":            {nil, func(w *world) { w.forge.merge(1) }, review.Merged, false},
		"made":              {nil, func(w *world) { w.commit("app/image", "v2") }, review.Closed, true},
		"made, and away":    {nil, func(w *world) { w.commit("app/image", "v2"); w.forge.closed = 1 }, review.Open, false},
		"updated, and made": {func(w *world) { w.update(1) }, func(w *world) { w.commit("app/image", "v2") }, review.Closed, true},
	} {
		w := newWorld(t)
		w.forge.looked = func(looks int) {
			if looks == 1 && test.before != nil {
				test.before(w)
			}
		}
		w.forge.seen = func(looks int) {
			if looks == 1 {
				test.do(w)
			}
		}
		commit, err := w.reviews(review.Wait).Publish(t.Context(), image("v2"), w.proposal("1-10"))
		if p := w.forge.pulls[0]; err != nil || commit.Hash != w.tip("main") || p.State != test.ends || (p.comment != "") != test.comments {
			t.Errorf("%s: published %s, %v; the pull request is %s, and says %q", name, commit.Hash, err, p.State, p.comment)
		}
	}
}

// A token that may not merge is told before the time is over.
func TestMayNotMerge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.forge.deaf = errors.New("403 Forbidden")
	if _, err := w.reviews(review.Auto).Publish(t.Context(), image("v2"), w.proposal("1-10")); err == nil || err.Error() != "403 Forbidden" {
		t.Errorf("error %v, want 403 Forbidden", err)
	}
}
