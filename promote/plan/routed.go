package plan

import (
	"context"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// Routed is a reversal's edit as Knative can route it. Only the edit tells whether the template is rolled back too, and with
// it what is the latest revision, and what somebody's later patch adds at 0 %. Where one of these keeps Knative from
// routing what it leads to, it is made without: the tool's patch, behind all others too, says the whole traffic.
func Routed(back Reversal, edit func(Reversal) (Edited, error), blocked func(*knative.State) bool) (Edited, error) {
	after, err := edit(back)
	if err != nil || !blocked(after.State) {
		return after, err
	}
	if slices.ContainsFunc(slices.Concat(back.Dest.Traffic, after.Wanted), knative.Follows) {
		back = back.followingNone()
		if after, err = edit(back); err != nil || !blocked(after.State) {
			return after, err
		}
	}
	back.Last = true
	last, err := edit(back)
	if err != nil {
		after.Blocked = true
		return after, nil
	}
	had, _ := after.State.Traffic() // the edits have read both
	has, _ := last.State.Traffic()
	last.Blocked = blocked(last.State)
	last.Replaced = slices.DeleteFunc(slices.Clone(had), func(t servingv1.TrafficTarget) bool { return knative.Among(has, t) })
	return last, nil
}

// followingNone is a reversal without the targets at 0 % of whatever is the latest revision.
func (back Reversal) followingNone() Reversal {
	none := func(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
		return slices.DeleteFunc(slices.Clone(traffic), knative.Follows)
	}
	back.Dest.Traffic = none(back.Dest.Traffic)
	if routable := back.Plan.Routable; routable != nil {
		back.Plan.Routable = func(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget { return none(routable(traffic)) }
	}
	return back
}

// last is an overlay with the tool's patch behind all others too, and the traffic that it renders.
func last(ctx context.Context, after *knative.State) (*knative.State, []servingv1.TrafficTarget, error) {
	after, err := knative.Last(ctx, after)
	if err != nil {
		return nil, nil, err
	}
	rendered, err := after.Traffic()
	return after, rendered, err
}
