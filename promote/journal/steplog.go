package journal

import (
	"github.com/acme/knative-promote/promote/event"
)

// A StepLog tells what becomes of one step.
type StepLog struct {
	journal *Journal
	index   int
}

// Begin opens the i-th planned step.
func (j *Journal) Begin(i int) StepLog {
	j.Tell(event.StepBegan{Step: i})
	return StepLog{j, i}
}

// BeginReversal adds a step that rolls back, and opens it.
func (j *Journal) BeginReversal(name, title string) StepLog {
	j.Tell(event.ReversalBegan{Name: name, Title: title})
	return StepLog{j, len(j.Result.Steps) - 1}
}

// Step is how far the step has come.
func (s StepLog) Step() event.Step { return s.journal.Result.Steps[s.index] }

// Committed tells the commit that shows the step, also one that was there when
// the run began.
func (s StepLog) Committed(hash string, resumed bool) {
	s.journal.Tell(event.Committed{Step: s.index, Commit: hash, Title: s.Step().Title, Resumed: resumed})
}

// Ask tells that a gate is asked, and whether it measures, and returns what tells its answer.
func (s StepLog) Ask(gate string, measures bool) (answered func(how event.Progress, reason string)) {
	i := len(s.Step().Gates)
	s.journal.Tell(event.GateAsked{Step: s.index, Gate: gate, Measures: measures})
	return func(how event.Progress, reason string) {
		s.journal.Tell(event.GateAnswered{Step: s.index, Index: i, Gate: gate, How: how, Reason: reason})
	}
}

// Warn tells what a person should know although the run ends well.
func (s StepLog) Warn(text string) { s.journal.Warn(text) }

// Passed closes the step.
func (s StepLog) Passed() { s.journal.Tell(event.StepPassed{Step: s.index}) }

// Failed closes a planned step that stopped the run.
func (s StepLog) Failed(cause error) {
	s.journal.Tell(event.StepFailed{Step: s.index, Cause: cause.Error()})
}

// HeldBack leaves a planned step whose commit may not be made now.
func (s StepLog) HeldBack(cause error, frozen bool) {
	s.journal.Tell(event.StepHeld{Step: s.index, Cause: cause.Error(), Frozen: frozen})
}

// Unseen closes a step that rolled back, but was not seen live.
func (s StepLog) Unseen() { s.journal.Tell(event.ReversalUnseen{Step: s.index}) }
