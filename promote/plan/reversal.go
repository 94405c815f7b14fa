package plan

import (
	"context"
	"fmt"
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// A Reversal is what a commit rolls back for one target.
type Reversal struct {
	Plan      Plan
	Step      string // restore or rollback
	Dest      Destination
	Live      *servingv1.Service // as last seen; nil: it was not
	Reason    string
	Gate      string                                              // that failed; empty: it is another reason
	MayChange func(now *knative.State, record record.Record) bool // whether what a tip shows is there to be rolled back
	Refused   error                                               // of one after another commit: why that could not roll back the template
	Keeps     *record.Version                                     // the template stays as it was before that; nil: it is rolled back too
	Last      bool                                                // the tool's patch of the traffic is listed behind all others too
	Taken     string                                              // a name for the template that Knative has for another one; empty: none is known
}

// TrafficAlone is the same for a Service that the cluster has still as it was before a commit of
// it, which could not be applied for a reason.
func (back Reversal) TrafficAlone(live *servingv1.Service, why error) Reversal {
	back.Keeps, back.Refused = record.VersionOfTemplate(live), why
	return back
}

// Renamed is the same with another name for a template whose name Knative has for another one.
func (back Reversal) Renamed(taken string) Reversal {
	back.Taken = taken
	return back
}

// Edit edits a tip to the destination. Where the template cannot be rolled
// back, the traffic alone goes to the old revision.
func (back Reversal) Edit(ctx context.Context, c Settings, tip gitops.Snapshot) (Edited, error) {
	now, err := reversedAt(ctx, back, tip)
	if err != nil {
		return Edited{}, err
	}
	record, err := record.Parse(now.Record())
	before := record
	if err != nil {
		before = back.Plan.Record // nothing that somebody wrote into it may stop a rollback
	}
	wanted := back.Plan.keeping(back.Dest.Traffic, now, before)
	back.Dest.Traffic = back.Plan.routed(wanted, back.Dest.Traffic)
	after, err := reversedFrom(ctx, c, back, now, before)
	if err != nil && now.Refusal() != nil && ctx.Err() == nil {
		return Edited{}, unusable{err}
	}
	if err != nil {
		return Edited{}, err
	}
	after.Wanted, after.Broken = wanted, now.Broken
	after.Lost = lost(now, after.State, before, back.Dest.Replaced)
	after.Foreign, after.Follows = knative.Foreign(now), knative.Following(now, after.State)
	after.Foreign = slices.DeleteFunc(after.Foreign, func(field string) bool { return slices.Contains(after.Follows, field) })
	if found := back.Dest.Found; found != nil && after.Carrying() == found.Name {
		after.Missing = knative.Missing(found.Spec.PodSpec, after.State)
	}
	switch traffic, err := after.State.Traffic(); {
	case err != nil:
		return Edited{}, err
	case Shows(now, after.State.Revision(), traffic) && now.SameTemplate(after.State):
		after.State, after.Foreign, after.Follows = now, nil, nil
	case !record.Is(back.Plan.ID, back.Step) && !back.MayChange(now, record): // its own may have been merged into what had changed
		return Edited{}, Superseded(tip.Commit, "the overlay now has revision %s with %s", OrGenerated(now.Revision()), DescribeTraffic(now))
	}
	return after, nil
}

// reversedAt is the overlay of a tip that is to be edited. For a rollback it need not render with the tool's own files.
func reversedAt(ctx context.Context, back Reversal, tip gitops.Snapshot) (*knative.State, error) {
	target := back.Plan.Target
	if back.Step != record.Rollback {
		return ToEdit(ctx, tip, target)
	}
	state, err := knative.ReadBroken(ctx, tip.Tree, target.Overlay, target.Service)
	return toEdit(ctx, tip, target, state, err)
}

// reversedFrom is an overlay rolled back: as a whole, or else its traffic alone.
func reversedFrom(ctx context.Context, c Settings, back Reversal, now *knative.State, before record.Record) (Edited, error) {
	if back.Keeps != nil {
		kept, err := knative.Restored(ctx, now, nil, back.Keeps.Images, back.Keeps.InitImages)
		if err != nil {
			return Edited{}, err
		}
		state, err := trafficReversed(ctx, c, back, kept, before)
		return Edited{State: state, Refused: back.Refused}, err
	}
	state, refused := templateReversed(ctx, c, back, now, before)
	if refused == nil {
		return textAlone(ctx, c, back, now, state, before), nil
	}
	if ctx.Err() != nil {
		return Edited{}, refused
	}
	state, err := trafficReversed(ctx, c, back, now, before)
	if err != nil {
		return Edited{}, fmt.Errorf("%w; nor can the traffic alone: %w", refused, err)
	}
	return Edited{State: state, Refused: refused}, nil
}

// templateReversed is an overlay with the template and the traffic of the destination.
// The template gets the old revision's name only if it is the old template;
// somebody may have changed the base since, and Knative would refuse that under
// the old name.
func templateReversed(ctx context.Context, c Settings, back Reversal, now *knative.State, record record.Record) (*knative.State, error) {
	dest := back.Dest
	next, revision, err := dest.again(ctx, now, back.Live)
	if err == nil {
		revision, err = untaken(back, next, revision)
	}
	if err != nil {
		return nil, err
	}
	traffic, same := dest.Traffic, revision == dest.Revision
	if !same && dest.Readiness().Gone {
		if why := unfitFor(revision, now, record.Of(back.Plan.Place())); why != "" {
			return nil, fmt.Errorf("revision %s %s, and with its images the overlay makes %s, which %s: revert the commit that brought that", dest.Revision, dest.Readiness().Why, revision, why)
		}
		traffic = retarget(traffic, dest.Revision, revision)
	}
	text, err := reversalRecord(c, back, next, traffic, record).Encode()
	if err != nil {
		return nil, err
	}
	var after *knative.State
	if same {
		after, err = restored(ctx, back, next, revision, traffic, text)
	}
	if after == nil || err != nil {
		after, err = next.Route(ctx, revision, traffic, text, back.Live)
	}
	if err != nil {
		return nil, err
	}
	return back.checked(ctx, c, now, after, revision, traffic)
}

// checked is what an edit leads to, if that is the traffic. Targets that somebody's later patch
// adds at 0 % are that patch's, and stop no rollback.
func (back Reversal) checked(ctx context.Context, c Settings, now, after *knative.State, revision string, traffic []servingv1.TrafficTarget) (*knative.State, error) {
	after, rendered, err := leftToLater(ctx, after, revision, traffic, back.Live)
	if err == nil && back.Last {
		after, rendered, err = last(ctx, after)
	}
	if err != nil {
		return nil, err
	}
	expected := knative.Expected{Also: c.Also, Revision: revision, Traffic: traffic, LiveOtherwise: true, Follows: true}
	if maps.Equal(knative.Shares(rendered), knative.Shares(traffic)) {
		expected.Traffic = rendered
	}
	return after, knative.Check(now, after, expected)
}

// untaken is a name for a template, or the next one of it where that is taken.
func untaken(back Reversal, state *knative.State, name string) (string, error) {
	if back.Taken == "" || name != back.Taken {
		return name, nil
	}
	return knative.AfterTaken(state, name)
}

// reversalRecord is what the commit says: a promotion that was rolled back stays the
// one that it was, a rollback is one of its own.
func reversalRecord(c Settings, back Reversal, next *knative.State, traffic []servingv1.TrafficTarget, before record.Record) record.Record {
	r := StepRecord(c, back.Plan, back.Step, before)
	r.Moving = movingIn(traffic, back.Dest.State, r, before)
	if back.Step == record.Restore {
		r.Gate, r.Reached = back.Gate, max(r.Reached, ShareOf(next, back.Plan.To))
		if r.Gate == "" && before.Is(r.Promotion, record.Restore) {
			r.Gate = before.Gate // which has failed, whoever restores once more
		}
		if carries := carrying(traffic); carries != "" && carries != r.From.Revision {
			r.From = record.VersionOf(carries, next) // what takes the place of one that is gone
		}
	}
	if back.Step == record.Rollback {
		r.To, r.From = record.VersionOf(carrying(traffic), next), back.Plan.FromVersion
		if r.To.Revision == back.Dest.Revision {
			r.To = back.Dest.Version // the overlay's images need not be its own, where only the traffic is rolled back
		}
		r.Code = before.Of(back.Plan.Place()).CodeOf(r.To.Revision)
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

// unfitFor is why a revision must not take the place of one that is gone, in words that follow
// its name; empty: it may.
func unfitFor(revision string, now *knative.State, has record.Record) string {
	if hasTraffic(now, revision) {
		return "is what is rolled back from"
	}
	return has.Unfit(revision)
}

// hasTraffic tells whether an overlay gives a revision a share, or has it as the candidate.
func hasTraffic(now *knative.State, revision string) bool {
	traffic, err := now.Traffic()
	return err == nil && slices.ContainsFunc(traffic, func(t servingv1.TrafficTarget) bool { return t.RevisionName == revision })
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

// EditLeftOut takes the targets out of a tip's traffic that the reversal has no more, and
// changes nothing else. A tip that is not as the commit before left it is somebody else's.
func (back Reversal) EditLeftOut(ctx context.Context, c Settings, tip gitops.Snapshot) (Edited, error) {
	now, err := ToEdit(ctx, tip, back.Plan.Target)
	if err != nil {
		return Edited{}, err
	}
	has, err := record.Parse(now.Record())
	switch ours := err == nil && has.Is(back.Plan.ID, back.Step) && now.SameTemplate(back.Plan.Now); {
	case ours && Shows(now, back.Plan.Now.Revision(), back.Dest.Traffic):
		return Edited{State: now, Refused: back.Refused}, nil
	case !ours || !Unchanged(now, back.Plan.Now):
		return Edited{}, Superseded(tip.Commit, "the overlay now has revision %s with %s", OrGenerated(now.Revision()), DescribeTraffic(now))
	}
	after, err := now.Route(ctx, now.Revision(), back.Dest.Traffic, now.Record(), back.Live)
	if err != nil {
		return Edited{}, err
	}
	after, err = back.checked(ctx, c, now, after, now.Revision(), back.Dest.Traffic)
	return Edited{State: after, Refused: back.Refused, Foreign: knative.Foreign(now)}, err
}
