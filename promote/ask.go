package promote

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
)

// An answer is what one gate says.
type answer struct {
	gate.Outcome
	note     func(event.Progress, string)
	gate     string
	panicked any
}

// askAll asks gates side by side and notes their answers, and what they have seen. The
// first one that fails ends the others: what they would say decides nothing any more.
// One that is inconclusive does not, as another may still fail.
func (p *targetRun) askAll(ctx context.Context, gates []gate.Gate, ask *gate.Ask, step journal.StepLog) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan answer, len(gates))
	for _, gate := range gates {
		own, note := *ask, step.Ask(gate)
		go func() { answers <- answered(ctx, gate, own, note) }()
	}
	var failed, unclear error
	for range gates {
		a := <-answers
		if a.panicked != nil {
			panic(a.panicked) // where it ends the run as anywhere else
		}
		p.noteSeen(a.Outcome, ask)
		err := p.judge(a, step, failed != nil)
		switch {
		case err == nil:
		case isInconclusive(err):
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

// noteSeen keeps what a gate has seen and counted, for those that are asked next.
func (p *targetRun) noteSeen(o gate.Outcome, ask *gate.Ask) {
	if o.Observed.Service != nil {
		ask.Observed = o.Observed
		p.saw(o.Observed)
	}
	if o.Counted != nil {
		p.counted = o.Counted
	}
}

// judge notes an answer. Decided is whether another gate has failed before.
func (p *targetRun) judge(a answer, step journal.StepLog, decided bool) error {
	if a.Err == nil {
		a.note(event.Passed, a.Reason)
		return nil
	}
	err := &GateError{Step: step.Step().Name, Gate: a.gate, Err: a.Err}
	unclear, is := errors.AsType[gate.Inconclusive](a.Err)
	switch {
	case decided:
		a.note(event.Skipped, "another gate has failed")
	case !is:
		a.note(event.Broken, a.Err.Error())
	default:
		a.note(event.Inconclusive, unclear.Err.Error())
		if p.OnInconclusive == GoOn {
			p.journal.Warn(fmt.Sprintf("%v; it went on, as on-inconclusive is %s", err, GoOn))
			return nil
		}
	}
	return err
}

func isInconclusive(err error) bool {
	_, is := errors.AsType[gate.Inconclusive](err)
	return is
}
