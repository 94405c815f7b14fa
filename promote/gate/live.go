package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
)

func liveKind() Kind {
	return Kind{
		Name: "live", Passes: "this very commit is live: synced, the Service ready with its revision, image and traffic", Asked: "always, first",
		Gate: func(s Settings, _ Step, _ Templates) Gate { return Live(s.Wait) },
	}
}

// Live waits until Argo CD and Knative show exactly what the commit says.
func Live(limit time.Duration) Gate {
	return Gate{
		Name:     "live",
		Routed:   true,
		Patience: limit,
		Check:    func(ctx context.Context, ask Ask) Outcome { return becomesLive(ctx, ask, limit) },
	}
}

func becomesLive(ctx context.Context, ask Ask, limit time.Duration) Outcome {
	wait, stop := context.WithTimeoutCause(ctx, limit, errWait)
	defer stop()
	began := time.Now()
	say := Verdicts(ask.Say)
	var last argo.Verdict
	seen, err := ask.Cluster.Await(wait, ask.Intent, func(v argo.Verdict) { last = v; say(v) })
	if err == nil {
		return Outcome{Reason: fmt.Sprintf("live and ready after %s", time.Since(began).Round(100*time.Millisecond)), Observed: seen}
	}
	if errors.Is(context.Cause(wait), errWait) {
		err = fmt.Errorf("not live after %s: %w", limit, err)
		if last.Intended {
			err = Inconclusive{err}
		}
	}
	return Outcome{Err: err, Observed: seen}
}

var errWait = errors.New("the wait-timeout is over")

// transient is a state that may pass.
type transient struct{ error }

// Unwrap gives the state itself.
func (t transient) Unwrap() error { return t.error }

// uncompared is what Argo CD cannot compare with Git, and is as the commit says as far
// as anybody sees.
type uncompared struct{ error }

// staysLive looks once, and logs what it sees when that changes.
func staysLive(ask Ask) func(context.Context) (argo.Observed, error) {
	say := Verdicts(ask.Say)
	return func(ctx context.Context) (argo.Observed, error) {
		verdict, seen, err := ask.Cluster.Check(ctx, ask.Intent)
		if err != nil {
			return argo.Observed{}, transient{err}
		}
		switch verdict.State {
		case argo.Superseded:
			return argo.Observed{}, fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
		case argo.Failed:
			return argo.Observed{}, fmt.Errorf("no longer good: %s", verdict.Reason)
		case argo.Wait:
			say(verdict)
			if verdict.Intended {
				return seen, uncompared{fmt.Errorf("the live Service is as the commit says, but nobody knows whether the commit still stands: %s", verdict.Reason)}
			}
			return argo.Observed{}, transient{fmt.Errorf("no longer live: %s", verdict.Reason)}
		}
		say(argo.Verdict{State: argo.Live, Reason: "baking " + ask.Step.Name + ", all good"})
		return seen, nil
	}
}
