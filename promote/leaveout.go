package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// withoutDown is a reversal that was not seen live, once more without the targets at 0 %
// that keep Knative from routing it: they were Ready, or not known, when it was committed.
// Nil: there are none, or it is not what keeps it.
func (b *reversal) withoutDown(ctx context.Context) *reversal {
	state := b.after.state
	has, err := record.Parse(state.Record())
	live := b.part.at.Live
	if err != nil || b.leavesOut || state.Revision() == "" || isSuperseded(b.failed) || ctx.Err() != nil || b.down(ctx, live) == "" {
		return nil
	}
	b.journal.say("the rollback of %s is committed once more, without the targets at 0 %% that keep Knative from routing it", b.Service)
	traffic, _ := state.Traffic() // it has been read before
	from, to := has.From, has.To
	if has.Step == record.Restore {
		from, to = to, from
	}
	return &reversal{
		part: b.part, step: has.Step, split: b.split, live: live, reason: b.reason, leavesOut: true, refused: b.after.refused,
		plan: plan.Plan{Target: b.Target, ID: has.Promotion, Base: has.Base, From: to.Revision, To: from.Revision, Tag: b.part.at.Tag, Now: state, Record: has, FromVersion: from},
		dest: destination{Version: to, traffic: traffic},
	}
}

// down says of a target at 0 % of the reversal's commit that it certainly keeps Knative from
// routing; empty: none does.
func (b *reversal) down(ctx context.Context, live *servingv1.Service) string {
	traffic, _ := b.after.state.Traffic() // what cannot be read keeps nobody
	for _, t := range traffic {
		if !optional(t, b.after.state.Revision()) {
			continue
		}
		if why := b.service.why(ctx, live, t.RevisionName); why != "" {
			return fmt.Sprintf("revision %s, at 0 %%, %s, so Knative routes nothing anew", t.RevisionName, why)
		}
	}
	return ""
}

// downEvery is how often it is looked whether a target at 0 % keeps a reversal from
// becoming live: nobody is to wait for that as long as for a revision that starts.
const downEvery = 10 * time.Second

// whileRoutable ends when a target at 0 % is found to keep Knative from routing the
// reversal, with that as its cause.
func (b *reversal) whileRoutable(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	live := b.part.at.Live
	go func() {
		for !b.leavesOut && sleep.For(ctx, downEvery) == nil {
			if why := b.down(ctx, live); why != "" {
				end(errors.New(why))
			}
		}
	}()
	return ctx, func() { end(nil) }
}

// editLeftOut takes the targets out of a tip's traffic that the reversal has no more, and
// changes nothing else. A tip that is not as the commit before left it is somebody else's.
func editLeftOut(ctx context.Context, c Config, back reversal, tip gitops.Snapshot) (edited, error) {
	now, err := plan.ToEdit(ctx, tip, back.Target)
	if err != nil {
		return edited{}, err
	}
	has, err := record.Parse(now.Record())
	switch ours := err == nil && has.Is(back.plan.ID, back.step) && now.SameTemplate(back.plan.Now); {
	case ours && plan.Shows(now, back.plan.Now.Revision(), back.dest.traffic):
		return edited{state: now, refused: back.refused}, nil
	case !ours || !plan.Unchanged(now, back.plan.Now):
		return edited{}, plan.Superseded(tip.Commit, "the overlay now has revision %s with %s", plan.OrGenerated(now.Revision()), plan.DescribeTraffic(now))
	}
	after, err := now.Route(ctx, now.Revision(), back.dest.traffic, now.Record(), back.live)
	if err != nil {
		return edited{}, err
	}
	return edited{after, back.refused}, knative.Check(now, after, knative.Expected{Also: c.Also, Revision: now.Revision(), Traffic: back.dest.traffic})
}
