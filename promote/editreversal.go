package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// edited is what an edit that rolls back leads to.
type edited struct {
	state   *knative.State
	refused error // why the template could not be rolled back, so that only the traffic is
}

// warning is what a person should know of an edit; empty: nothing.
func (e edited) warning(to destination) string {
	traffic, err := e.state.Traffic()
	switch {
	case e.refused == nil && err == nil && knative.Shares(traffic)[to.Revision] == 0:
		return fmt.Sprintf("revision %s is gone and cannot be made again, as the template of the overlay has changed since: %s, with that change, takes its place", to.Revision, e.state.Revision())
	case e.refused == nil:
		return ""
	}
	return fmt.Sprintf("the overlay's template could not be rolled back, only the traffic goes to %s: %v", to.Revision, e.refused)
}

// editReversal edits a tip to the destination. Where the template cannot be rolled
// back, the traffic alone goes to the old revision.
func editReversal(ctx context.Context, c Config, back reversal, tip gitops.Snapshot) (edited, error) {
	now, err := plan.ToEdit(ctx, tip, back.Target)
	if err != nil {
		return edited{}, err
	}
	record, err := record.Parse(now.Record())
	before := record
	if err != nil {
		before = back.plan.Record // nothing that somebody wrote into it may stop a rollback
	}
	after, err := reversedFrom(ctx, c, back, now, before)
	if err != nil {
		return edited{}, err
	}
	switch traffic, err := after.state.Traffic(); {
	case err != nil:
		return edited{}, err
	case plan.Shows(now, after.state.Revision(), traffic) && now.SameTemplate(after.state):
		after.state = now
	case !back.mayChange(now, record):
		return edited{}, plan.Superseded(tip.Commit, "the overlay now has revision %s with %s", plan.OrGenerated(now.Revision()), plan.DescribeTraffic(now))
	}
	return after, nil
}

// reversedFrom is an overlay rolled back: as a whole, or else its traffic alone.
func reversedFrom(ctx context.Context, c Config, back reversal, now *knative.State, before record.Record) (edited, error) {
	state, refused := templateReversed(ctx, c, back, now, before)
	if refused == nil || ctx.Err() != nil {
		return edited{state: state}, refused
	}
	state, err := trafficReversed(ctx, c, back, now, before)
	if err != nil {
		return edited{}, fmt.Errorf("%w; nor can the traffic alone: %w", refused, err)
	}
	return edited{state, refused}, nil
}

// templateReversed is an overlay with the template and the traffic of the destination.
// The template gets the old revision's name only if it is the old template;
// somebody may have changed the base since, and Knative would refuse that under
// the old name.
func templateReversed(ctx context.Context, c Config, back reversal, now *knative.State, record record.Record) (*knative.State, error) {
	dest := back.dest
	next, err := dest.imagesOn(ctx, now)
	if err != nil {
		return nil, err
	}
	revision, traffic := dest.Revision, dest.traffic
	same, err := dest.madeOf(next, back.live)
	if err != nil {
		return nil, err
	}
	if !same {
		if revision, err = next.NextRevision(); err != nil {
			return nil, err
		}
		if dest.readiness().Gone {
			traffic = retarget(traffic, dest.Revision, revision)
		}
	}
	text, err := reversalRecord(c, back, next, traffic, record).Encode()
	if err != nil {
		return nil, err
	}
	var after *knative.State
	// The old files are taken where they say just what is wanted, so that the
	// overlay is as it was, byte for byte, but for the record.
	if same && dest.state != nil && dest.state.Owned() && plan.Shows(dest.state, revision, traffic) {
		after, err = next.RestoreRoute(ctx, dest.state, text)
	} else {
		after, err = next.Route(ctx, revision, traffic, text, back.live)
	}
	if err != nil {
		return nil, err
	}
	return after, knative.Check(now, after, knative.Expected{Also: c.Also, Revision: revision, Traffic: traffic})
}

// trafficReversed is an overlay with the traffic of the destination and the
// template as it is.
func trafficReversed(ctx context.Context, c Config, back reversal, now *knative.State, record record.Record) (*knative.State, error) {
	if back.dest.readiness().Gone {
		return nil, fmt.Errorf("revision %s no longer exists", back.dest.Revision)
	}
	if now.Revision() == "" {
		return nil, errors.New("the template has no name that could stay")
	}
	text, err := reversalRecord(c, back, now, back.dest.traffic, record).Encode()
	if err != nil {
		return nil, err
	}
	after, err := now.Route(ctx, now.Revision(), back.dest.traffic, text, back.live)
	if err != nil {
		return nil, err
	}
	return after, knative.Check(now, after, knative.Expected{Also: c.Also, Revision: now.Revision(), Traffic: back.dest.traffic})
}

// reversalRecord is what the commit says: a promotion that was rolled back stays the
// one that it was, a rollback is one of its own.
func reversalRecord(c Config, back reversal, next *knative.State, traffic []servingv1.TrafficTarget, before record.Record) record.Record {
	r := plan.StepRecord(c.Settings, back.plan, back.step, before)
	if back.step == record.Restore {
		r.Gate, r.Reached = back.gate, max(r.Reached, plan.ShareOf(next, back.plan.To))
	}
	if back.step == record.Rollback {
		r.To, r.From = record.VersionOf(carrying(traffic), next), back.plan.FromVersion
		if r.To.Revision == back.dest.Revision {
			r.To = back.dest.Version // the overlay's images need not be its own, where only the traffic is rolled back
		}
		r.Code = before.Of(back.Place()).CodeOf(r.To.Revision)
	}
	return r
}

// carrying is the revision that has all traffic.
func carrying(traffic []servingv1.TrafficTarget) string {
	for _, t := range traffic {
		if knative.Percent(t) == 100 {
			return t.RevisionName
		}
	}
	return ""
}

// retarget names another revision in the traffic.
func retarget(traffic []servingv1.TrafficTarget, from, to string) []servingv1.TrafficTarget {
	traffic = slices.Clone(traffic)
	for i := range traffic {
		if traffic[i].RevisionName == from {
			traffic[i].RevisionName = to
		}
	}
	return traffic
}
