package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/live"
)

func liveKind() Kind {
	return Kind{
		Name: "live", Passes: "this very commit is live: synced, the Service ready with its revision, image and traffic", Asked: "always, first",
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.liveGate(step) },
	}
}

// liveGate waits until a step is live, and until the new revision has a pod where that has a share
// and no gate behind this one has it asked: with an initial scale of zero Knative calls it Ready
// without any, and one that was scaled to zero since need not start again. At 0 % no user asks, so there is nothing to wait for.
func (s Settings) liveGate(step Step) Gate {
	g := Live(s.Wait)
	if step.Percent == 0 || s.asks(step) {
		return g
	}
	isLive := g.Check
	g.Check = func(ctx context.Context, ask Ask) Outcome {
		until := time.Now().Add(s.Wait)
		o := isLive(ctx, ask)
		if o.Err == nil && live.WithoutPod(o.Observed.Revision) {
			o.Err = ask.starts(ctx, time.Until(until), live.Unstarted(o.Observed.Revision))
		}
		return o
	}
	return g
}

// asks tells whether a gate sends requests to the candidate after a step.
func (s Settings) asks(step Step) bool {
	for _, g := range []Gate{s.warmUpGate(step), s.probeGate(), s.compareGate(step)} {
		if g.Check != nil {
			return true
		}
	}
	return s.load(step).Rate > 0
}

// starts waits for a pod of the new revision. That nobody asks for one says nothing for it where none was seen before.
func (a Ask) starts(ctx context.Context, patience time.Duration, unstarted bool) error {
	look := func(ctx context.Context) (*servingv1.Revision, error) { return a.Revision(ctx, a.namespace(), a.To) }
	err := live.Starts(ctx, look, a.To, patience, a.Say)
	unseen, is := errors.AsType[*live.NoPodSeenError](err)
	switch {
	case errors.Is(err, live.ErrUntold):
		return Inconclusive{err}
	case !is || unseen.Asked:
		return err
	case unstarted:
		return Inconclusive{fmt.Errorf("%w, and none has been seen before; with the input probe, warm-up or load the run itself asks", err)}
	}
	a.Say("%s", err)
	return nil
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
type transient struct {
	error
	within time.Duration // zero: bakeGrace
}

// limit is for how long it is waited for that.
func (t transient) limit() time.Duration { return cmp.Or(t.within, bakeGrace) }

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
			return transient{error: err}
		}
	}
	return unseen{error: fmt.Errorf("nobody can see whether it is still live: %w", err)}
}

// staysLive looks once, and logs what it sees when that changes. A pod that users wait for may take as long as starts.
func staysLive(ask Ask, starts time.Duration) func(context.Context) (argo.Observed, error) {
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
			return argo.Observed{}, transient{error: fmt.Errorf("no longer live: %s", verdict.Reason)}
		}
		if why := live.Awaited(seen.Revision); why != "" && seen.Revision.Name == ask.To {
			say(argo.Verdict{State: argo.Wait, Reason: why})
			return seen, transient{errors.New(why), starts}
		}
		say(argo.Verdict{State: argo.Live, Reason: "baking " + ask.Step.Name + ", all good"})
		return seen, nil
	}
}
