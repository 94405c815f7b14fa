package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// withoutDown is a reversal that was not seen live, once more without the targets at 0 %
// that keep Knative from routing it: they were Ready, or not known, when it was committed.
// Nil: there are none, or it is not what keeps it.
func (b *reversal) withoutDown(ctx context.Context) *reversal {
	state := b.after.State
	has, err := record.Parse(state.Record())
	live := b.target.at.Live
	if err != nil || b.leavesOut || state.Revision() == "" || isSuperseded(b.failed) || ctx.Err() != nil || b.down(ctx, live) == "" {
		return nil
	}
	b.target.journal.Say("the rollback of %s is committed once more, without the targets at 0 %% that keep Knative from routing it", b.target.Service)
	traffic, _ := state.Traffic() // it has been read before
	from, to := has.From, has.To
	if has.Step == record.Restore {
		from, to = to, from
	}
	return &reversal{
		target: b.target, split: b.split, over: b.over, leavesOut: true,
		Reversal: plan.Reversal{
			Plan: plan.Plan{Target: b.target.Target, ID: has.Promotion, Base: has.Base, From: to.Revision, To: from.Revision, Tag: b.target.at.Tag, Now: state, Record: has, FromVersion: from},
			Step: has.Step, Dest: plan.Destination{Version: to, Traffic: traffic}, Live: live, Reason: b.Reason, Refused: b.after.Refused,
		},
	}
}

// down says of a target at 0 % of the reversal's commit that it certainly keeps Knative from
// routing; empty: none does.
func (b *reversal) down(ctx context.Context, seen *servingv1.Service) string {
	traffic, _ := b.after.State.Traffic() // what cannot be read keeps nobody
	for _, t := range traffic {
		if !live.Optional(t, b.after.State.Revision()) {
			continue
		}
		if why := b.target.service.Why(ctx, seen, t.RevisionName); why != "" {
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
	live := b.target.at.Live
	go func() {
		for !b.leavesOut && sleep.For(ctx, downEvery) == nil {
			if why := b.down(ctx, live); why != "" {
				end(errors.New(why))
			}
		}
	}()
	return ctx, func() { end(nil) }
}
