package promote

import (
	"context"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
)

// A Gate must pass after every step before the next one is published. The
// zero Gate is one that the run does not ask.
type Gate struct {
	Name string
	// Patience is the longest that Check takes.
	Patience time.Duration
	// Check passes with a nil error only; the reason says in words what was seen.
	Check func(ctx context.Context, at *Position) (reason string, err error)
	// Holds looks once whether what has passed still does, while the step bakes.
	// A transient error may pass.
	Holds func(ctx context.Context, at *Position) error
}

// Position is where a gate is asked: after which commit, and what the gates
// before have seen.
type Position struct {
	Step     PlannedStep
	Commit   string
	Intent   argo.Intent
	Observed argo.Observed // filled in by the gates live and bake

	promotion string // id in the record
}

// gates are the gates after a step, in the order in which they are asked.
func gates(c Config, step Step, cluster Cluster, verdicts func() func(argo.Verdict)) []Gate {
	asked := slices.DeleteFunc([]Gate{
		liveGate(c, cluster, verdicts),
		probeGate(c),
	}, func(g Gate) bool { return g.Name == "" })
	if step.Bake > 0 {
		asked = append(asked, bakeGate(step, asked))
	}
	return asked
}

// patience is the longest that all gates of a step take.
func (c Config) patience(step Step) time.Duration {
	var all time.Duration
	for _, gate := range gates(c, step, noCluster{}, nil) {
		all += gate.Patience
	}
	return all
}

// ask puts the question to one gate and notes the answer.
func (p *part) ask(ctx context.Context, gate Gate, at *Position, step stepLog) error {
	answered := step.ask(gate.Name)
	reason, err := gate.Check(ctx, at)
	p.journal.saw(at.Observed, p.CandidateTag)
	answered(reason, err)
	if err != nil {
		return &GateError{Step: at.Step.Name, Gate: gate.Name, Err: err}
	}
	return nil
}

// transient is a state that may pass.
type transient struct{ error }

// Unwrap gives the state itself.
func (t transient) Unwrap() error { return t.error }

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
