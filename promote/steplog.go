package promote

import (
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
)

// A stepLog tells what becomes of one step.
type stepLog struct {
	journal *journal
	index   int
}

// begin opens the i-th planned step.
func (j *journal) begin(i int) stepLog {
	j.tell(event.StepBegan{Step: i})
	return stepLog{j, i}
}

// beginReversal adds a step that rolls back, and opens it.
func (j *journal) beginReversal(name, title string) stepLog {
	j.tell(event.ReversalBegan{Name: name, Title: title})
	return stepLog{j, len(j.result.Steps) - 1}
}

// step is how far the step has come.
func (s stepLog) step() event.Step { return s.journal.result.Steps[s.index] }

// committed tells the commit that shows the step, also one that was there when
// the run began.
func (s stepLog) committed(hash string, resumed bool) {
	s.journal.tell(event.Committed{Step: s.index, Commit: hash, Title: s.step().Title, Resumed: resumed})
}

// ask tells that a gate is asked, and returns what tells its answer.
func (s stepLog) ask(g gate.Gate) (answered func(how event.Progress, reason string)) {
	i := len(s.step().Gates)
	s.journal.tell(event.GateAsked{Step: s.index, Gate: g.Name, Measures: g.Measures})
	return func(how event.Progress, reason string) {
		s.journal.tell(event.GateAnswered{Step: s.index, Index: i, Gate: g.Name, How: how, Reason: reason})
	}
}

// passed closes the step.
func (s stepLog) passed() { s.journal.tell(event.StepPassed{Step: s.index}) }

// failed closes a planned step that stopped the run.
func (s stepLog) failed(cause error) {
	s.journal.tell(event.StepFailed{Step: s.index, Cause: cause.Error()})
}

// heldBack leaves a planned step whose commit may not be made now.
func (s stepLog) heldBack(cause error, frozen bool) {
	s.journal.tell(event.StepHeld{Step: s.index, Cause: cause.Error(), Frozen: frozen})
}

// unseen closes a step that rolled back, but was not seen live.
func (s stepLog) unseen() { s.journal.tell(event.ReversalUnseen{Step: s.index}) }
