package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
)

// How often a baking step is looked at, and how long it may be anything but
// good before that counts as bad, or go on past its end where nobody can compare it
// with Git. Argo CD's own restarts take a few seconds.
const (
	bakeInterval = 5 * time.Second
	bakeGrace    = 30 * time.Second
)

func bakeKind() Kind {
	return Kind{
		Name: "bake", Passes: "the Service stays live for the time behind `@` in `steps`", Asked: "where a step bakes",
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.bakeGate(step) },
	}
}

// bakeGate watches a step for its bake time: what was live must stay so. What
// cannot be seen does not.
func (s Settings) bakeGate(step Step) Gate {
	if step.Bake == 0 {
		return Gate{}
	}
	return Gate{
		Routed:   true,
		Patience: step.Bake + bakeGrace,
		Check: func(ctx context.Context, ask Ask) Outcome {
			var last argo.Observed
			look := staysLive(ask)
			err := bake(ctx, step.Bake, func(ctx context.Context) error {
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

func bake(ctx context.Context, long time.Duration, holds func(context.Context) error) error {
	until := time.Now().Add(long)
	lastGood := time.Now()
	for {
		pause := bakeInterval
		if left := time.Until(until); left > 0 {
			pause = min(pause, left)
		}
		if err := sleep.For(ctx, pause); err != nil {
			return err
		}
		err := holds(ctx)
		var passing transient
		var blind uncompared
		switch {
		case err == nil:
			lastGood = time.Now()
		case errors.As(err, &blind) && time.Since(until) >= bakeGrace:
			return Inconclusive{err}
		case errors.As(err, &blind):
			lastGood = time.Now()
		case !errors.As(err, &passing) || time.Since(lastGood) >= bakeGrace:
			return err
		}
		if err == nil && !time.Now().Before(until) {
			return nil
		}
	}
}
