package ask

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
)

// GateError is a gate that did not pass.
type GateError struct {
	Step string // name of the step
	Gate string // name of the gate
	Err  error
}

// Error names the step and the gate, then the cause.
func (e *GateError) Error() string { return fmt.Sprintf("%s: gate %s: %v", e.Step, e.Gate, e.Err) }

// Unwrap gives the cause.
func (e *GateError) Unwrap() error { return e.Err }

// IsGate tells whether a gate has not passed.
func IsGate(err error) bool {
	_, is := errors.AsType[*GateError](err)
	return is
}

// IsInconclusive tells whether a gate could not tell whether the candidate is good.
func IsInconclusive(err error) bool {
	_, is := errors.AsType[gate.Inconclusive](err)
	return is
}

// An answer is what one gate says.
type answer struct {
	gate.Outcome
	note     func(event.Progress, string)
	gate     string
	panicked any
}

// All asks gates side by side and notes their answers, and in asked what they have seen,
// of which saw is told too. The first one that fails ends the others: what they would say
// decides nothing any more. One that is inconclusive does not, as another may still fail.
// The error is a [GateError].
func (g *Gates) All(ctx context.Context, gates []gate.Gate, asked *gate.Ask, log journal.StepLog, saw func(argo.Observed)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan answer, len(gates))
	for _, gate := range gates {
		own, note := *asked, log.Ask(gate.Name, gate.Measures)
		go func() { answers <- answered(ctx, gate, own, note) }()
	}
	var failed, unclear error
	for range gates {
		a := <-answers
		if a.panicked != nil {
			panic(a.panicked) // where it ends the run as anywhere else
		}
		if a.Observed.Service != nil {
			asked.Observed = a.Observed
			saw(a.Observed)
		}
		if a.Counted != nil {
			g.Counted = a.Counted
		}
		err := g.judge(a, log, failed != nil)
		switch {
		case err == nil:
		case IsInconclusive(err):
			unclear = err
		case failed == nil:
			failed = err
			stop()
		}
	}
	if failed != nil && (unclear == nil || !errors.Is(failed, gate.ErrTimeout)) {
		return failed
	}
	return unclear // also where the run's timeout alone has ended the others
}

// answered asks a gate.
func answered(ctx context.Context, g gate.Gate, ask gate.Ask, note func(event.Progress, string)) (a answer) {
	a = answer{note: note, gate: g.Name}
	defer func() { a.panicked = recover() }()
	a.Outcome = g.Check(ctx, ask)
	return a
}

// judge notes an answer. Decided is whether another gate has failed before.
func (g *Gates) judge(a answer, log journal.StepLog, decided bool) error {
	if a.Err == nil {
		a.note(event.Passed, a.Reason)
		return nil
	}
	err := &GateError{Step: log.Step().Name, Gate: a.gate, Err: a.Err}
	unclear, is := errors.AsType[gate.Inconclusive](a.Err)
	switch {
	case decided:
		a.note(event.Skipped, "another gate has failed")
	case !is:
		a.note(event.Broken, a.Err.Error())
	default:
		a.note(event.Inconclusive, unclear.Err.Error())
		if g.GoesOn {
			log.Warn(fmt.Sprintf("%v; it went on, as on-inconclusive is pass", err))
			return nil
		}
	}
	return err
}
