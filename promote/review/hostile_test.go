package review_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/review"
)

// Somebody's pull request cannot be closed: a rollback is merged all the same, and a step is not.
func TestPublishBesideWhatCannotBeClosed(t *testing.T) {
	t.Parallel()
	for step, want := range map[string]string{"1-rollback": "<nil>", "1-50": "403 Forbidden"} {
		w := newWorld(t)
		w.forge.pulls = []*pull{{PullRequest: review.PullRequest{Number: 1, URL: "https://forge/1", Branch: "promote-web-prod.1-x", State: review.Open}}}
		r := w.reviews(review.Auto)
		r.Forge.ClosePull = func(context.Context, int, string) error { return errors.New("403 Forbidden") }
		p, said := w.proposal(step), ""
		p.Stays = strings.HasSuffix(step, "-rollback")
		p.Seen = func(pull review.PullRequest, state string) { said += fmt.Sprintf("%d %s\n", pull.Number, state) }
		_, err := r.Publish(t.Context(), image("v2"), p)
		if got := fmt.Sprint(err); got != want {
			t.Errorf("%s: %s, want %s", step, got, want)
		}
		if p.Stays && !strings.Contains(said, "1 left open: 403 Forbidden\n") {
			t.Errorf("%s said\n%s", step, said)
		}
	}
}

// Somebody has opened hundreds of pull requests: a rollback is merged before more of them are
// closed than a forge takes at once, and also where it takes none. The newest come first.
func TestPublishBesideAFlood(t *testing.T) {
	t.Parallel()
	for takes, want := range map[int][]int{0: {0, 0}, 2: {2, 2}, 10: {3, 10}, 1000: {3, 13}} {
		w := newWorld(t)
		for n := range 300 {
			w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{
				Number: n + 1, URL: "https://forge/x", Branch: fmt.Sprintf("promote-web-prod.%d-10", n), State: review.Open,
			}})
		}
		r := w.reviews(review.Auto)
		var closed, before, said int
		closing, merging := r.Forge.ClosePull, r.Forge.MergePull
		r.Forge.ClosePull = func(ctx context.Context, number int, comment string) error {
			if closed == takes {
				return &review.AwayError{Err: errors.New("rate limited (403)")}
			}
			if closed++; number != 301-closed {
				t.Errorf("#%d is closed as number %d", number, closed)
			}
			return closing(ctx, number, comment)
		}
		r.Forge.MergePull = func(ctx context.Context, pull review.PullRequest, title, body string) (review.Merging, error) {
			before = closed
			return merging(ctx, pull, title, body)
		}
		p := w.proposal("1-rollback")
		p.Stays = true
		p.Seen = func(pull review.PullRequest, what string) {
			if strings.Contains(what, "left open") {
				said++
			}
		}
		if _, err := r.Publish(t.Context(), image("v2"), p); err != nil || before != want[0] || closed != want[1] || said == 0 {
			t.Errorf("the forge takes %d: %v; %d closed before the merge, %d in all, want %v; told %d times of others", takes, err, before, closed, want, said)
		}
	}
}

// Somebody pushes to each branch of a rollback as soon as its pull request is open: it is proposed
// anew for as long as its time lasts, and its end names who.
func TestPublishThoughSomebodyPushesToEach(t *testing.T) {
	t.Parallel()
	for pushes, want := range map[int]string{12: "<nil>", 1000: `somebody has pushed to its branch promote-web-prod.1-rollback-`} {
		w := newWorld(t)
		w.forge.opened = func() {
			switch opened := len(w.forge.pulls); {
			case opened == 14:
				w.end()
			case opened <= pushes:
				w.push(w.forge.pulls[opened-1].Branch, "evil", strconv.Itoa(opened))
			}
		}
		r := w.reviews(review.Auto)
		r.Timeout = 10 * time.Minute
		p := w.proposal("1-rollback")
		p.Stays = true
		_, err := r.Publish(w.ctx, image("v2"), p)
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%d pushes: %s, want %s", pushes, got, want)
		}
		if _, not := errors.AsType[*review.NotMergedError](err); not == (want == "<nil>") {
			t.Errorf("%d pushes: the error is %T", pushes, err)
		}
	}
}

// Somebody changes the base of the pull request in the moment of its merge: no forge takes the base
// that it is to be merged into, so the run says where that went.
func TestPublishMergedIntoAnotherBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.reviews(review.Auto)
	merge := r.Forge.MergePull
	r.Forge.MergePull = func(ctx context.Context, p review.PullRequest, title, body string) (review.Merging, error) {
		how, err := merge(ctx, p, title, body)
		w.forge.pulls[0].Base, w.forge.pulls[0].Merge = "production", "c0ffee"
		return how, err
	}
	_, err := r.Publish(t.Context(), image("v2"), w.proposal("1-10"))
	want := "was merged into production, as c0ffee, and not into main: somebody has changed its base to production in the last moment; revert that commit there"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}
