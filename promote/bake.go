package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
)

// How often a baking step is looked at, and how long it may be anything but
// good before that counts as bad. Argo CD's own restarts take a few seconds.
const (
	bakeInterval = 5 * time.Second
	bakeGrace    = 30 * time.Second
)

// staysGood watches a step for its bake time: it must stay live, and keep
// answering where there is a probe. What cannot be seen is not good.
func (p *Promotion) staysGood(ctx context.Context, at *Position) (string, error) {
	until := time.Now().Add(at.Step.Bake)
	lastGood := time.Now()
	say := p.sayVerdict()
	for {
		pause := bakeInterval
		if left := time.Until(until); left > 0 {
			pause = min(pause, left)
		}
		if err := sleep(ctx, pause); err != nil {
			return "", err
		}
		err := p.isGood(ctx, at, say)
		switch {
		case err == nil:
			lastGood = time.Now()
		case !isTransient(err) || time.Since(lastGood) >= bakeGrace:
			return "", err
		}
		if err == nil && !time.Now().Before(until) {
			return fmt.Sprintf("stayed good for %s", at.Step.Bake), nil
		}
	}
}

// isGood looks once.
func (p *Promotion) isGood(ctx context.Context, at *Position, say func(argo.Verdict)) error {
	verdict, seen, err := p.Cluster.Check(ctx, at.Intent)
	if err != nil {
		return transient{err}
	}
	switch verdict.State {
	case argo.Superseded:
		return fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
	case argo.Failed:
		return fmt.Errorf("no longer good: %s", verdict.Reason)
	case argo.Wait:
		say(verdict)
		return transient{fmt.Errorf("no longer live: %s", verdict.Reason)}
	}
	at.Observed = seen
	p.see(seen)
	say(argo.Verdict{State: argo.Live, Reason: "baking " + at.Step.Name + ", all good"})
	if p.Probe.Path == "" {
		return nil
	}
	_, err = p.answers(ctx, at)
	return err
}

// transient is a state that may pass.
type transient struct{ error }

// Unwrap gives the state itself.
func (t transient) Unwrap() error { return t.error }

func isTransient(err error) bool {
	_, ok := err.(transient)
	return ok
}

// sleep waits, but not longer than the context.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
