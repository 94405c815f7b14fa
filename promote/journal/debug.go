package journal

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Debug prints a line into the debug log.
func (j *Journal) Debug(format string, args ...any) {
	j.reporter.Debug(fmt.Sprintf(format, args...))
}

// DebugPlan says what is left to do, and what that was computed from: a step is
// taken as done where the tip shows it.
func (j *Journal) DebugPlan(p plan.Plan, at plan.Situation) {
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
	j.Debug("tip %.10s: revision %q with %s; record: promotion %q, step %q, passed %t; latest ready revision %q",
		at.Tip.Hash, at.Now.Revision(), plan.DescribeTraffic(at.Now), at.Record.Promotion, at.Record.Step, at.Record.HasPassed(), at.LatestReady)
	j.Debug("plan %q: from %q to %q, base %.10q, steps: %s", p.ID, p.From, p.To, p.Base, strings.Join(steps, ", "))
}
