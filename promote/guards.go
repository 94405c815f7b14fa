package promote

import (
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
)

// tellFreeze says of a plan what freezes its next commit now.
func tellFreeze(p *targetRun) {
	if !p.plan.Shifts() || !slices.ContainsFunc(p.plan.Steps, func(s plan.PlannedStep) bool { return !s.Done }) {
		return
	}
	if err := p.config.Guards.MayShift(p.at.Snapshot(), guarded(p.Target), time.Now()); err != nil {
		p.journal.Explain("nothing would be pushed now: %v", err)
	}
}

// guarded is the target as the guards know it.
func guarded(t plan.Target) guard.Target {
	return guard.Target{Environment: t.Environment, Overlay: t.Overlay, Service: t.Service}
}
