package promote

import (
	"time"

	"github.com/acme/knative-promote/promote/event"
)

// commitGate stands in the place of a gate where the commit could not be made.
const commitGate = "commit"

// A stepLog is the only way to write what becomes of one step.
type stepLog struct {
	journal *journal
	index   int
}

// begin opens the i-th planned step.
func (j *journal) begin(i int) stepLog {
	step := stepLog{j, i}
	step.entry().Started, step.entry().Progress = time.Now(), event.Running
	j.report()
	return step
}

// beginReversal adds a step that rolls back, and opens it.
func (j *journal) beginReversal(name, title string) stepLog {
	j.result.Steps = append(j.result.Steps, event.Step{Name: name, Title: title, Progress: event.Running, Started: time.Now()})
	j.report()
	return stepLog{j, len(j.result.Steps) - 1}
}

func (s stepLog) entry() *event.Step { return &s.journal.result.Steps[s.index] }

// committed notes the commit that shows the step, also one that was there when
// the run began.
func (s stepLog) committed(hash string, resumed bool) {
	s.journal.result.Commit = hash
	step := s.entry()
	step.Commit, step.Resumed = hash, resumed
	if resumed {
		s.journal.say("commit %.10s shows it already: its gates are asked anew, and count nothing from before", hash)
	} else {
		s.journal.result.Changed = true
		s.journal.say("commit %.10s: %s", hash, step.Title)
	}
	s.journal.report()
}

// ask notes that a gate is asked, and returns what notes its answer.
func (s stepLog) ask(gate string) (answered func(how event.Progress, reason string)) {
	i := len(s.entry().Gates)
	s.entry().Gates = append(s.entry().Gates, event.Gate{Name: gate, Progress: event.Running, Started: time.Now()})
	s.journal.report()
	return func(how event.Progress, reason string) {
		g := &s.entry().Gates[i]
		g.Ended, g.Progress, g.Reason = time.Now(), how, reason
		s.journal.say("%s: %s: %s", g.Name, g.Progress, g.Reason)
		s.journal.report()
	}
}

// passed closes the step.
func (s stepLog) passed() {
	s.entry().Ended, s.entry().Progress = time.Now(), event.Passed
	s.journal.report()
}

// failed closes a planned step that stopped the run.
func (s stepLog) failed(cause error) {
	step := s.entry()
	step.Ended, step.Progress = time.Now(), event.Broken
	if len(step.Gates) == 0 {
		step.Gates = []event.Gate{{Name: commitGate, Progress: event.Broken, Reason: cause.Error(), Started: step.Started, Ended: step.Ended}}
	}
	s.journal.result.Reason = cause.Error()
	s.journal.say("%v", cause)
	s.journal.report()
}

// heldBack leaves a planned step whose commit may not be made now.
func (s stepLog) heldBack(cause error, frozen bool) {
	step := s.entry()
	step.Progress, step.Started = event.Pending, time.Time{}
	s.journal.result.Frozen, s.journal.result.Reason = frozen, cause.Error()
	s.journal.say("%v", cause)
	s.journal.report()
}

// skipped closes all planned steps that are not reached.
func (j *journal) skipped() {
	for i, step := range j.result.Steps {
		if step.Progress == event.Pending {
			j.result.Steps[i].Progress = event.Skipped
		}
	}
	j.report()
}

// unseen closes a step that rolled back, but was not seen live.
func (s stepLog) unseen() { s.entry().Progress = event.Broken }
