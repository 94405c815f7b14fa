package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/live"
)

// How often a baking step is looked at, and how long it may be anything but
// good before that counts as bad.
const (
	bakeInterval = 5 * time.Second
	bakeGrace    = 30 * time.Second
)

// OfService tells whether the gate of this name looks at the Service as a whole, whichever revision troubles it: live or
// bake.
func OfService(name string) bool { return name == Live(0).Name || name == bakeKind().Name }

func bakeKind() Kind {
	return Kind{
		Name: "bake", Passes: "the Service stays live for the time behind `@` in `steps`", Asked: "where a step bakes",
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.bakeGate(step) },
	}
}

// bakeGate watches a step for its bake time: what was live must stay so. While it
// cannot be seen, that says nothing of the candidate.
func (s Settings) bakeGate(step Step) Gate {
	if step.Bake == 0 {
		return Gate{}
	}
	return Gate{
		Routed:   true,
		Patience: step.Bake + max(s.unseenLimit(), s.startLimit()),
		Check: func(ctx context.Context, ask Ask) Outcome {
			var last argo.Observed
			look := staysLive(ask, s.startLimit())
			err := bake(ctx, step.Bake, s.unseenLimit(), func(ctx context.Context) error {
				seen, err := look(ctx)
				if seen.Service != nil {
					last = seen
				}
				return err
			})
			return Outcome{Reason: fmt.Sprintf("stayed good for %s", step.Bake), Err: err, Observed: last}
		},
	}
}

// unseenLimit is for how long a baking step may be out of sight.
func (s Settings) unseenLimit() time.Duration { return max(s.WaitForData, bakeGrace) }

// startLimit is for how long users of a baking step may wait for its first pod.
func (s Settings) startLimit() time.Duration { return min(s.Wait, live.StartWithin) }

// bake is nil when what holds has done so for long, and does at the end. What stays
// out of sight for longer than the limit, or cannot be compared with Git so long after
// the end, is inconclusive.
func bake(ctx context.Context, long, limit time.Duration, holds func(context.Context) error) error {
	until := time.Now().Add(long)
	lastSeen, looked := time.Now(), time.Now()
	bad := map[time.Duration]time.Duration{} // by what it is waited for so long: since it was not so last, as far as somebody has looked
	for {
		if err := sleep.For(ctx, nextLook(until)); err != nil {
			return err
		}
		began := time.Now()
		err := holds(ctx)
		now := time.Now()
		passed := now.Sub(looked)
		looked = now
		var passing transient
		var blind unseen
		switch {
		case err == nil && !began.Before(until):
			return nil
		case err == nil:
			lastSeen = now
			clear(bad)
		case errors.As(err, &blind):
			if blind.intended {
				lastSeen = earlier(now, until)
				clear(bad)
			}
			if now.Sub(lastSeen) >= limit {
				return Inconclusive{err}
			}
		case !errors.As(err, &passing):
			return err
		default:
			lastSeen = now
			if bad[passing.limit()] == 0 {
				passed = min(passed, bakeInterval) // a look may take long itself, and it may just have begun
			}
			if bad[passing.limit()] += passed; bad[passing.limit()] >= passing.limit() {
				return err
			}
		}
	}
}

// nextLook is how long to wait for the next look: until the end at most.
func nextLook(until time.Time) time.Duration {
	if left := time.Until(until); left > 0 {
		return min(bakeInterval, left)
	}
	return bakeInterval
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
