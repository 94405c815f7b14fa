package event

import "time"

// StepBegan says that the run has come to one of the planned steps.
type StepBegan struct {
	silent
	Step int // its place in Result.Steps, as in the events below
}

func (e StepBegan) apply(r *Result, now time.Time) {
	r.Steps[e.Step].Started, r.Steps[e.Step].Progress = now, Running
}

// ReversalBegan says that the run has come to a step that rolls back, which is added to
// the others.
type ReversalBegan struct {
	silent
	Name, Title string
}

func (e ReversalBegan) apply(r *Result, now time.Time) {
	r.Steps = append(r.Steps, Step{Name: e.Name, Title: e.Title, Progress: Running, Started: now})
}

// Committed says which commit shows a step.
type Committed struct {
	Step    int
	Commit  string
	Title   string // its subject
	Resumed bool   // it was there when the run began
}

// Lines name the commit.
func (e Committed) Lines() []string {
	if e.Resumed {
		return line("commit %.10s shows it already: its gates are asked anew, and count nothing from before", e.Commit)
	}
	return line("commit %.10s: %s", e.Commit, e.Title)
}

func (e Committed) apply(r *Result, _ time.Time) {
	r.Commit, r.Changed = e.Commit, r.Changed || !e.Resumed
	r.Steps[e.Step].Commit, r.Steps[e.Step].Resumed = e.Commit, e.Resumed
}

// GateAsked says that a gate is asked after a step.
type GateAsked struct {
	silent
	Step     int
	Gate     string
	Measures bool // it counts or compares
}

func (e GateAsked) apply(r *Result, now time.Time) {
	r.Steps[e.Step].Gates = append(r.Steps[e.Step].Gates, Gate{Name: e.Gate, Measures: e.Measures, Progress: Running, Started: now})
}

// GateAnswered says what a gate has answered.
type GateAnswered struct {
	Step   int
	Index  int // in the Gates of the step
	Gate   string
	How    Progress
	Reason string
}

// Lines are the answer.
func (e GateAnswered) Lines() []string { return line("%s: %s: %s", e.Gate, e.How, e.Reason) }

func (e GateAnswered) apply(r *Result, now time.Time) {
	gate := &r.Steps[e.Step].Gates[e.Index]
	gate.Ended, gate.Progress, gate.Reason = now, e.How, e.Reason
}

// StepPassed says that all gates of a step have passed.
type StepPassed struct {
	silent
	Step int
}

func (e StepPassed) apply(r *Result, now time.Time) {
	r.Steps[e.Step].Ended, r.Steps[e.Step].Progress = now, Passed
}

// CommitGate stands in the place of a gate where the commit could not be made.
const CommitGate = "commit"

// StepFailed says that a step has stopped the run: a gate has failed, or the commit.
type StepFailed struct {
	Step  int
	Cause string
}

// Lines are the cause.
func (e StepFailed) Lines() []string { return []string{e.Cause} }

func (e StepFailed) apply(r *Result, now time.Time) {
	step := &r.Steps[e.Step]
	step.Ended, step.Progress, r.Reason = now, Broken, e.Cause
	if len(step.Gates) == 0 {
		step.Gates = []Gate{{Name: CommitGate, Progress: Broken, Reason: e.Cause, Started: step.Started, Ended: now}}
	}
}

// StepHeld says that the commit of a step may not be made now.
type StepHeld struct {
	Step   int
	Cause  string
	Frozen bool // by the infra repository's windows
}

// Lines are the cause.
func (e StepHeld) Lines() []string { return []string{e.Cause} }

func (e StepHeld) apply(r *Result, _ time.Time) {
	r.Steps[e.Step].Progress, r.Steps[e.Step].Started = Pending, time.Time{}
	r.Frozen, r.Reason = e.Frozen, e.Cause
}

// StepsSkipped says that the steps which are left are not reached.
type StepsSkipped struct{ silent }

func (StepsSkipped) apply(r *Result, _ time.Time) {
	for i, step := range r.Steps {
		if step.Progress == Pending {
			r.Steps[i].Progress = Skipped
		}
	}
}

// ReversalUnseen says that a step which rolled back was not seen live.
type ReversalUnseen struct {
	silent
	Step int
}

func (e ReversalUnseen) apply(r *Result, _ time.Time) { r.Steps[e.Step].Progress = Broken }
