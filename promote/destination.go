package promote

import (
	"context"
	"fmt"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// A destination is what a rollback leads to: an earlier version and who gets
// the traffic.
type destination struct {
	record.Version
	state   *knative.State // the overlay that had it; nil: only the record tells of it
	traffic []servingv1.TrafficTarget
	base    string                              // commit with that overlay; empty: none is known
	live    func() (*servingv1.Revision, error) // the revision in the cluster, asked for once
	service *servingv1.Service                  // as last seen live; nil: it was not
}

// readiness is what is known of the revision in the cluster.
func (d destination) readiness() plan.Readiness {
	return plan.ReadinessBeside(d.service, d.Revision, d.live)
}

// whyDown says in words that the revision is not Ready; empty: nothing speaks against
// rolling back to it.
func (d destination) whyDown() string {
	if ready := d.readiness(); ready.Down() {
		return d.Revision + ", which " + ready.Why
	}
	return ""
}

// before is the destination of a promotion that is rolled back: by name, the last
// revision before it that had all traffic and had passed, with the overlay of that
// commit where that can be read.
func (p *part) before(ctx context.Context, plan plan.Plan, live *servingv1.Service) (destination, error) {
	was := plan.Restores()
	dest := destination{Version: was.From, base: was.Base, service: live, live: p.service.revisionOnce(ctx, namespaceOf(live), was.From.Revision)}
	dest.state = p.baseOf(ctx, was.Base, was.From)
	var err error
	if dest.state != nil && dest.state.Owned() {
		dest.traffic, err = dest.state.Traffic()
		return dest, err
	}
	split, err := p.splitOf(orState(dest.state, plan.Now))
	if err != nil {
		return dest, err
	}
	split.Stable, split.Candidate = dest.Revision, ""
	dest.traffic = split.Targets(p.at.Tag, p.KeepPrevious)
	return dest, nil
}

// baseOf is the overlay of the commit that a promotion began on. It gives the
// bytes from before; nil, where it cannot be read or shows something else, the
// record must do. The template there is not the revision's where the traffic alone
// was rolled back, or where somebody had reverted one file of two.
func (p *part) baseOf(ctx context.Context, commit string, to record.Version) *knative.State {
	state, err := p.infra.At(ctx, commit)
	if err == nil {
		var split knative.Split
		split, err = p.splitOf(state)
		switch {
		case err != nil:
		case split.Candidate != "" || split.Stable != "" && split.Stable != to.Revision:
			err = fmt.Errorf("it does not give the traffic to %s", to.Revision)
		case !to.SameImages(state):
			err = fmt.Errorf("it does not have the images of %s", to.Revision)
		}
	}
	if err != nil {
		p.journal.say("rolling back by the record alone: the overlay of commit %.10s is of no use: %v", commit, err)
		return nil
	}
	return state
}

func orState(state, other *knative.State) *knative.State {
	if state == nil {
		return other
	}
	return state
}

// splitOf is an overlay's traffic, taken apart.
func (p *part) splitOf(state *knative.State) (knative.Split, error) {
	return plan.Situation{Target: p.Target, Now: state, Tag: p.at.Tag}.Split()
}

// imagesOn is an overlay with the destination's images.
func (d destination) imagesOn(ctx context.Context, now *knative.State) (*knative.State, error) {
	if d.state != nil {
		return now.RestoreImages(ctx, d.state)
	}
	return now.SetContainers(ctx, d.Images, d.InitImages)
}

// madeOf tells whether the revision was made of an overlay's template. Somebody
// may have changed that: under the revision's name, which Knative has refused,
// or under none, and Argo CD has not looked yet. The name tells the former, and
// only the live revision, which is not asked for otherwise, the latter.
func (d destination) madeOf(next *knative.State, live *servingv1.Service) (bool, error) {
	made, known, err := next.Made(d.Revision)
	switch {
	case err != nil || known:
		return made, err
	case d.state != nil && !next.SameTemplate(d.state):
		return false, nil
	}
	found, err := d.live()
	if err != nil {
		return true, nil // nothing speaks against it
	}
	return orState(d.state, next).Fits(found, live)
}
