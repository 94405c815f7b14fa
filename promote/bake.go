package promote

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How often a baking step is looked at, and how long it may be anything but
// good before that counts as bad. Argo CD's own restarts take a few seconds.
const (
	bakeInterval = 5 * time.Second
	bakeGrace    = 30 * time.Second
)

// bakeGate watches a step for its bake time: all gates that have passed must go
// on to hold. What cannot be seen does not.
func bakeGate(step Step, passed []Gate) Gate {
	return Gate{
		Name:     "bake",
		Patience: step.Bake + bakeGrace,
		Check: func(ctx context.Context, at *Position) (string, error) {
			if err := bake(ctx, at, step.Bake, passed); err != nil {
				return "", err
			}
			return fmt.Sprintf("stayed good for %s", step.Bake), nil
		},
		Holds: func(context.Context, *Position) error { return nil }, // it is what looks
	}
}

func bake(ctx context.Context, at *Position, long time.Duration, passed []Gate) error {
	until := time.Now().Add(long)
	lastGood := time.Now()
	for {
		pause := bakeInterval
		if left := time.Until(until); left > 0 {
			pause = min(pause, left)
		}
		if err := sleep(ctx, pause); err != nil {
			return err
		}
		err := allHold(ctx, at, passed)
		var passing transient
		switch {
		case err == nil:
			lastGood = time.Now()
		case !errors.As(err, &passing) || time.Since(lastGood) >= bakeGrace:
			return err
		}
		if err == nil && !time.Now().Before(until) {
			return nil
		}
	}
}

func allHold(ctx context.Context, at *Position, passed []Gate) error {
	for _, gate := range passed {
		if err := gate.Holds(ctx, at); err != nil {
			return err
		}
	}
	return nil
}
