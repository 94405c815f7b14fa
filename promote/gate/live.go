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

// unseen is that nobody can tell whether the Service is as the commit says, which says
// nothing of the candidate.
type unseen struct {
	error
	intended bool // it is, as far as anybody sees, but Argo CD cannot compare it with Git
}

// blind is why a look failed: Argo CD or Git does not answer, or it was answered that there
// is nothing to see.
func blind(err error) error {
	for _, answer := range []error{argo.ErrAuth, argo.ErrNotFound, argo.ErrAddress} {
		if errors.Is(err, answer) {
			return transient{err}
		}
	}
	return unseen{error: fmt.Errorf("nobody can see whether it is still live: %w", err)}
}

// staysLive looks once, and logs what it sees when that changes.
func staysLive(ask Ask) func(context.Context) (argo.Observed, error) {
	say := Verdicts(ask.Say)
	return func(ctx context.Context) (argo.Observed, error) {
		verdict, seen, err := ask.Cluster.Check(ctx, ask.Intent)
		if err != nil {
			err = blind(err)
			say(argo.Verdict{State: argo.Wait, Reason: err.Error()})
			return argo.Observed{}, err
		}
		switch verdict.State {
		case argo.Superseded:
			return argo.Observed{}, fmt.Errorf("%w: %s", argo.ErrSuperseded, verdict.Reason)
		case argo.Failed:
			return argo.Observed{}, fmt.Errorf("no longer good: %s", verdict.Reason)
		case argo.Wait:
			say(verdict)
			if verdict.Intended {
				return seen, unseen{fmt.Errorf("the live Service is as the commit says, but nobody knows whether the commit still stands: %s", verdict.Reason), true}
			}
			return argo.Observed{}, transient{fmt.Errorf("no longer live: %s", verdict.Reason)}
		}
		say(argo.Verdict{State: argo.Live, Reason: "baking " + ask.Step.Name + ", all good"})
		return seen, nil
	}
}
