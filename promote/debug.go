package promote

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// debug prints a line into the debug log.
func (j *journal) debug(format string, args ...any) {
	j.reporter.Debug(fmt.Sprintf(format, args...))
}

// debugPlan says what is left to do, and what that was computed from: a step is
// taken as done where the tip shows it.
func (j *journal) debugPlan(p plan.Plan, at plan.Situation) {
	var steps []string
	for _, step := range p.Steps {
		text := step.Name
		if step.Bake > 0 {
			text += fmt.Sprintf(" with a bake of %s", step.Bake)
		}
		if step.Done {
			text += " (done)"
		}
		steps = append(steps, text)
	}
	if len(steps) == 0 {
		steps = []string{record.Rollback}
	}
	j.debug("tip %.10s: revision %q with %s; record: promotion %q, step %q, passed %t; latest ready revision %q",
		at.Tip.Hash, at.Now.Revision(), plan.DescribeTraffic(at.Now), at.Record.Promotion, at.Record.Step, at.Record.HasPassed(), at.LatestReady)
	j.debug("plan %q: from %q to %q, base %.10q, steps: %s", p.ID, p.From, p.To, p.Base, strings.Join(steps, ", "))
}

// debugOutcome says what the run's end was decided from.
func (j *journal) debugOutcome(status event.Status, e ending, cancelled bool) {
	j.debug("outcome %s: reached %q, cancelled %t, hold %t, roll back %t, at once %t, cause: %v, failed: %v",
		status, e.reached, cancelled, e.hold, e.back, e.atOnce, e.cause, e.failed)
}
