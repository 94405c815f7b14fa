package promote

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/promote/event"
)

// An answer is what one gate says.
type answer struct {
	at       *Position // what it has seen is filled in
	note     func(event.Progress, string)
	gate     string
	reason   string
	err      error
	panicked any
}

// ask puts the question to one gate and notes the answer.
func (p *part) ask(ctx context.Context, gate Gate, at *Position, step stepLog) error {
	return p.askAll(ctx, []Gate{gate}, at, step)
}

// askAll asks gates side by side and notes their answers. The first one that
// fails ends the others: what they would say decides nothing any more. One that
// is inconclusive does not, as another may still fail.
func (p *part) askAll(ctx context.Context, gates []Gate, at *Position, step stepLog) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	answers := make(chan answer, len(gates))
	for _, gate := range gates {
		own, note := *at, step.ask(gate.Name)
		go func() { answers <- gate.answer(ctx, &own, note) }()
	}
	var failed, unclear error
	for range gates {
		a := <-answers
		if a.panicked != nil {
			panic(a.panicked) // where it ends the run as anywhere else
		}
		if a.at.Observed.Service != nil {
			at.Observed = a.at.Observed
			p.journal.tell(seenLive(a.at.Observed, p.CandidateTag))
		}
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
	if failed != nil && (unclear == nil || !errors.Is(failed, ErrTimeout)) {
		return failed
	}
	return unclear // also where the run's timeout alone has ended the others
}

// answer asks the gate.
func (g Gate) answer(ctx context.Context, at *Position, note func(event.Progress, string)) (a answer) {
	a = answer{at: at, note: note, gate: g.Name}
	defer func() { a.panicked = recover() }()
	a.reason, a.err = g.Check(ctx, at)
	return a
}

// judge notes an answer. Decided is whether another gate has failed before.
func (p *part) judge(a answer, step stepLog, decided bool) error {
	if a.err == nil {
		a.note(event.Passed, a.reason)
		return nil
	}
	err := &GateError{Step: step.step().Name, Gate: a.gate, Err: a.err}
	unclear, is := errors.AsType[inconclusive](a.err)
	switch {
	case decided:
		a.note(event.Skipped, "another gate has failed")
	case !is:
		a.note(event.Broken, a.err.Error())
	default:
		a.note(event.Inconclusive, unclear.error.Error())
		if p.OnInconclusive == GoOn {
			p.journal.warn(fmt.Sprintf("%v; it went on, as on-inconclusive is %s", err, GoOn))
			return nil
		}
	}
	return err
}

func isInconclusive(err error) bool {
	var unclear inconclusive
	return errors.As(err, &unclear)
}
