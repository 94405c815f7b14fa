package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// A Destination is what a rollback leads to: an earlier version and who gets
// the traffic.
type Destination struct {
	record.Version
	State    *knative.State // the overlay that had it; nil: only the record tells of it
	Replaced []string       // images that somebody had set in the overlay that a promotion began on
	Traffic  []servingv1.TrafficTarget
	Base     string              // commit with that overlay; empty: none is known
	Found    *servingv1.Revision // the revision in the cluster; nil: it was not seen
	Missing  error               // why it was not
	Service  *servingv1.Service  // as last seen live; nil: it was not
}

// Readiness is what is known of the revision in the cluster.
func (d Destination) Readiness() Readiness {
	if image := d.instead(); image != "" {
		return Readiness{Gone: true, Why: "is another one in this cluster, with the image " + image}
	}
	return ReadinessBeside(d.Service, d.Revision, d.Found, d.Missing)
}

// instead is the image of another revision that has the name: where a Service was made anew, or is deployed to another
// place, Knative gives the names that it gives to other revisions. Empty: none has.
func (d Destination) instead() string {
	if d.Found == nil || len(d.Images) == 0 || !knative.Generated(d.Revision) {
		return ""
	}
	live := record.VersionOfLive(d.Found)
	if slices.EqualFunc(live.AllImages(), d.AllImages(), record.SameImage) {
		return ""
	}
	return oneline.Brief(strings.Join(live.AllImages(), ", "))
}

// WhyDown says in words that the revision is not Ready; empty: nothing speaks against
// rolling back to it.
func (d Destination) WhyDown() string {
	if ready := d.Readiness(); ready.Down() {
		return d.Revision + ", which " + ready.Why
	}
	return ""
}

// WasReady refuses a revision that is not known to have been ready. One of a
// commit may be gone, or Argo CD not answer.
func (d Destination) WasReady(ofCommit bool) error {
	if d.Found != nil && d.Found.IsReady() || d.Found == nil && ofCommit {
		return nil
	}
	return setting.Bad("to: revision %s is not known to have been Ready, nor is it now: expected one that is Ready, or that a promotion gave all traffic", d.Revision)
}

// imagesOn is an overlay with the Destination's images.
func (d Destination) imagesOn(ctx context.Context, now *knative.State) (*knative.State, error) {
	return knative.Restored(ctx, now, d.State, d.Images, d.InitImages)
}

// again is an overlay with the Destination's images, and the revision that its template makes:
// the Destination's, or one with what has changed since.
func (d Destination) again(ctx context.Context, now *knative.State, live *servingv1.Service) (next *knative.State, revision string, err error) {
	if next, err = d.imagesOn(ctx, now); err != nil {
		return nil, "", err
	}
	if same, err := d.madeOf(next, live); same || err != nil {
		return next, d.Revision, err
	}
	revision, err = next.NextRevision()
	return next, revision, err
}

// WhyNotAgain says in words that the revision is gone, and that what the overlay would make in
// its place must not have the traffic; empty: nothing speaks against it, or nobody can tell.
func (d Destination) WhyNotAgain(ctx context.Context, now *knative.State, has record.Record) string {
	ready := d.Readiness()
	if !ready.Gone {
		return ""
	}
	_, revision, err := d.again(ctx, now, d.Service)
	if err != nil || revision == d.Revision {
		return ""
	}
	if why := unfitFor(revision, now, has); why != "" {
		return fmt.Sprintf("%s, which %s and for which the overlay makes %s, which %s", d.Revision, ready.Why, revision, why)
	}
	return ""
}

// madeOf tells whether the revision was made of an overlay's template. Somebody
// may have changed that: under the revision's name, which Knative has refused,
// or under none, and Argo CD has not looked yet. The name tells the former, and
// only the live revision, which is not asked for otherwise, the latter.
func (d Destination) madeOf(next *knative.State, live *servingv1.Service) (bool, error) {
	made, known, err := next.Made(d.Revision)
	switch {
	case err != nil || known:
		return made, err
	case d.State != nil && !next.SameTemplate(d.State):
		return false, nil
	}
	if d.Found == nil {
		return true, nil // nothing speaks against it
	}
	state := d.State
	if state == nil {
		state = next
	}
	return state.Fits(d.Found, live)
}
