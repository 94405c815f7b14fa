package review_test

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/review"
)

// A later promotion closes the pull request and opens its own: what becomes of the earlier one is what the branch shows then.
func TestClosedByALaterOne(t *testing.T) {
	t.Parallel()
	later := errors.New("somebody else's change")
	for name, merged := range map[string]bool{"merged": true, "closed too": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			change := image("v2")
			edit := change.Edit
			change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
				if text, err := fs.ReadFile(tip.Tree, "app/image"); err != nil || string(text) == "v3" {
					return nil, later
				}
				return edit(tip)
			}
			w.forge.looked = func(looks int) {
				switch looks {
				case 1:
					w.forge.pulls[0].State = review.Closed
					w.forge.pulls = append(w.forge.pulls, &pull{PullRequest: review.PullRequest{Number: 2, Branch: "promote-web-prod.2-10", State: review.Open}})
				case 3:
					w.forge.pulls[1].State = review.Closed
					if merged {
						w.commit("app/image", "v3")
					}
				}
			}
			_, err := w.reviews(review.Wait).Publish(w.ctx, change, w.proposal("1-10"))
			_, not := errors.AsType[*review.NotMergedError](err)
			if errors.Is(err, later) != merged || not == merged || w.forge.looks != 3 {
				t.Errorf("after %d looks %v", w.forge.looks, err)
			}
		})
	}
}
