package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops/sleep"
)

// How often a baking step is looked at, and how long it may be anything but
// good before that counts as bad, or go on past its end where nobody can compare it
// with Git. Argo CD's own restarts take a few seconds.
const (
	bakeInterval = 5 * time.Second
	bakeGrace    = 30 * time.Second
)

// bakeGate watches a step for its bake time: what was live must stay so. What
// cannot be seen does not.
func bakeGate(step Step, holds func(context.Context, *Position) error) Gate {
	if step.Bake == 0 {
		return Gate{}
	}
	return Gate{
		Name:     "bake",
		Routed:   true,
		Patience: step.Bake + bakeGrace,
		Check: func(ctx context.Context, at *Position) (string, error) {
			err := bake(ctx, step.Bake, func(ctx context.Context) error { return holds(ctx, at) })
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("stayed good for %s", step.Bake), nil
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
			return inconclusive{err}
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
