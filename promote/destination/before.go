package destination

import (
	"context"
	"fmt"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Before is the destination of a promotion that is rolled back: by name, the last
// revision before it that had all traffic and had passed, with the overlay of that
// commit where that can be read.
func (f Finder) Before(ctx context.Context, of plan.Plan, seen *servingv1.Service) (plan.Destination, error) {
	was := of.Restores()
	dest := plan.Destination{Version: was.From, Base: was.Base, Service: seen}
	dest.Found, dest.Missing = f.Live.Find(ctx, seen, was.From.Revision)
	dest.State, dest.Replaced = f.baseOf(ctx, was.Base, was.From)
	if dest.State != nil && dest.State.Owned() {
		traffic, err := dest.State.Traffic()
		if err != nil || knative.Shares(traffic)[dest.Revision] == 100 { // else people have taken the file's content out
			dest.Traffic = traffic
			return dest, err
		}
	}
	split, err := f.splitOf(orState(dest.State, of.Now))
	if err != nil {
		return dest, err
	}
	split.Stable, split.Candidate = dest.Revision, ""
	dest.Traffic = split.Targets(f.At.Tag, f.KeepPrevious)
	return dest, nil
}

// baseOf is the overlay of the commit that a promotion began on. It gives the
// bytes from before; nil, where it cannot be read or shows something else, the
// record must do. The template there is not the revision's where the traffic alone
// was rolled back, where somebody had reverted one file of two, or set an image, which is
// told: it is replaced.
func (f Finder) baseOf(ctx context.Context, commit string, to record.Version) (state *knative.State, replaced []string) {
	state, err := f.Overlay.At(ctx, commit)
	if err == nil {
		var split knative.Split
		split, err = f.splitOf(state)
		switch {
		case err != nil:
		case split.Candidate != "" || split.Stable != "" && split.Stable != to.Revision:
			err = fmt.Errorf("it does not give the traffic to %s", to.Revision)
		case !to.SameImages(state):
			err = fmt.Errorf("it does not have the images of %s", to.Revision)
			replaced = setByHand(state)
		}
	}
	if err != nil {
		f.Journal.Say("rolling back by the record alone: the overlay of commit %.10s is of no use: %v", commit, err)
		return nil, replaced
	}
	return state, nil
}

// setByHand are the images of an overlay's own that no promotion or rollback has left there.
func setByHand(state *knative.State) []string {
	has, err := record.Parse(state.Record())
	if err == nil && has.Exists() && !record.SetByHand(has, state) {
		return nil
	}
	return knative.OwnImages(state)
}

// splitOf is an overlay's traffic, taken apart.
func (f Finder) splitOf(state *knative.State) (knative.Split, error) {
	was, _ := record.Parse(state.Record()) // one that cannot be read tells of no tags
	return plan.Situation{Target: f.At.Target, Now: state, Tag: f.At.Tag, Record: was}.Split()
}

func orState(state, other *knative.State) *knative.State {
	if state == nil {
		return other
	}
	return state
}
