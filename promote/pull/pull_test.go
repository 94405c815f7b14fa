package pull

import (
	"context"
	"errors"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

func TestBranchOf(t *testing.T) {
	t.Parallel()
	for overlay, want := range map[string]string{
		"apps/web/overlays/eu-1": "web-apps-web-overlays-eu-1-0ed35ee8",
		"apps/web/overlays/eu.1": "web-apps-web-overlays-eu-1-d37188ac",
		"apps/web/overlays/eü 1": "web-apps-web-overlays-e-1-dfdb7753",
		"a..b/.git/x.lock":       "web-a-b-git-x-lock-515496b5",
	} {
		if got := branchOf(plan.Target{Target: argo.Target{Service: "web"}, Overlay: overlay}); got != want {
			t.Errorf("%s: branch %s, want %s", overlay, got, want)
		}
	}
}

// awayReviews are those of a forge that does not answer.
type awayReviews struct{ Reviews }

func (awayReviews) Proposed(context.Context, review.Proposal) (review.PullRequest, gitops.Snapshot, error) {
	return review.PullRequest{}, gitops.Snapshot{}, &review.AwayError{Err: errors.New("GitHub answered 503 Service Unavailable")}
}

// TestRollbackWhileTheForgeIsAway: whether somebody has asked for the same before is
// nothing that an emergency waits for, or fails by.
func TestRollbackWhileTheForgeIsAway(t *testing.T) {
	t.Parallel()
	requests := Requests{Mode: review.Every, Reviews: awayReviews{}, Journal: journal.New(event.Result{}, silent{})}
	if err := requests.AdoptRollback(t.Context(), &plan.Reversal{Step: record.Rollback}, plan.Situation{}); err != nil {
		t.Error(err)
	}
}

// silent is a Reporter that says nothing.
type silent struct{}

func (silent) Tell(event.Event, event.Result) {}
func (silent) Line(string)                    {}
func (silent) Debug(string)                   {}
