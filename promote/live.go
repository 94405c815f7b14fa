package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
)

// liveGate waits until Argo CD and Knative show exactly what the commit says.
func liveGate(c Config, cluster Cluster, verdicts func() func(argo.Verdict)) Gate {
	return Gate{
		Name:     "live",
		Routed:   true,
		Patience: c.WaitTimeout,
		Check: func(ctx context.Context, at *Position) (string, error) {
			return becomesLive(ctx, cluster, at, c.WaitTimeout, verdicts())
		},
	}
}

func becomesLive(ctx context.Context, cluster Cluster, at *Position, limit time.Duration, say func(argo.Verdict)) (string, error) {
	wait, stop := context.WithTimeoutCause(ctx, limit, errWait)
	defer stop()
	began := time.Now()
	var last argo.Verdict
	seen, err := cluster.Await(wait, at.Intent, func(v argo.Verdict) { last = v; say(v) })
	at.Observed = seen
	if err == nil {
		return fmt.Sprintf("live and ready after %s", time.Since(began).Round(100*time.Millisecond)), nil
	}
	if errors.Is(context.Cause(wait), errWait) {
		err = fmt.Errorf("not live after %s: %w", limit, err)
		if last.Intended {
			err = inconclusive{err}
		}
	}
	return "", err
}

var errWait = errors.New("the wait-timeout is over")

// uncompared is what Argo CD cannot compare with Git, and is as the commit says as far
// as anybody sees.
type uncompared struct{ error }

// staysLive looks once, and logs what it sees when that changes.
func staysLive(cluster Cluster, verdicts func() func(argo.Verdict)) func(context.Context, *Position) error {
	var say func(argo.Verdict)
	return func(ctx context.Context, at *Position) error {
		if say == nil {
			say = verdicts()
		}
		verdict, seen, err := cluster.Check(ctx, at.Intent)
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
			if verdict.Intended {
				at.Observed = seen
				return uncompared{fmt.Errorf("the live Service is as the commit says, but nobody knows whether the commit still stands: %s", verdict.Reason)}
			}
			return transient{fmt.Errorf("no longer live: %s", verdict.Reason)}
		}
		at.Observed = seen
		say(argo.Verdict{State: argo.Live, Reason: "baking " + at.Step.Name + ", all good"})
		return nil
	}
}
