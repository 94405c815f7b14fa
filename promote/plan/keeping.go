package plan

import (
	"context"
	"maps"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// keeping is traffic with the targets at 0 % that people have on a tip with this record: who has added
// one since the plan was made has asked for no less than who had it before.
func (p Plan) keeping(traffic []servingv1.TrafficTarget, tip *knative.State, has record.Record) []servingv1.TrafficTarget {
	at, err := tip.Traffic()
	if err != nil {
		return traffic // what cannot be read stops no rollback
	}
	gone := knative.TakenOut(tip, p.Tag, has.Of(p.Place()).Moving)
	split, _ := knative.ReadSplit(knative.Without(at, gone), p.Tag, knative.MovingTags(tip, p.Tag)) // people's targets are known with an error too
	if with := knative.Beside(traffic, split.Foreign); !knative.SameTargets(with, traffic) {
		return with
	}
	return traffic
}

// routed is what is wanted as Knative can route it, which what has been planned is already.
func (p Plan) routed(wanted, planned []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	if p.Routable == nil || knative.SameTargets(wanted, planned) {
		return wanted
	}
	return p.Routable(wanted)
}

// leftToLater is an overlay whose traffic has been written, without what somebody's later patch adds
// too, and the traffic that it renders.
func leftToLater(ctx context.Context, after *knative.State, revision string, traffic []servingv1.TrafficTarget, live *servingv1.Service) (*knative.State, []servingv1.TrafficTarget, error) {
	rendered, err := after.Traffic()
	if err != nil {
		return nil, nil, err
	}
	left := knative.LeftToLater(traffic, rendered)
	if knative.SameTraffic(left, traffic) {
		return after, rendered, nil
	}
	if after, err = after.Route(ctx, revision, left, after.Record(), live); err != nil {
		return nil, nil, err
	}
	rendered, err = after.Traffic()
	return after, rendered, err
}

// MovedUsers tells whether the share of some revision is another one, in Git or as far as was seen in
// the cluster, than before a reversal that has led to traffic.
func MovedUsers(before *knative.State, live *servingv1.Service, traffic []servingv1.TrafficTarget) bool {
	now := knative.Shares(traffic)
	was, err := before.Traffic()
	shares := knative.Shares(was)
	if len(was) == 0 {
		shares[""] = 100
	}
	return err != nil || !maps.Equal(shares, now) || live != nil && !maps.Equal(knative.Shares(live.Status.Traffic), now)
}
