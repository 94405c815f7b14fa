package promote

import (
	"errors"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
)

// tellFreeze says of a plan what freezes its next commit now.
func (p *targetRun) tellFreeze() {
	if !p.plan.Shifts() || !slices.ContainsFunc(p.plan.Steps, func(s plan.PlannedStep) bool { return !s.Done }) {
		return
	}
	if err := p.Guards.MayShift(p.at.Snapshot(), guarded(p.Target), time.Now()); err != nil {
		p.journal.Explain("nothing would be pushed now: %v", err)
	}
}

// guarded is the target as the guards know it.
func guarded(t plan.Target) guard.Target {
	return guard.Target{Environment: t.Environment, Overlay: t.Overlay, Service: t.Service}
}

// windowsNow are the windows at the tip, for the check. A file that is named and
// does not exist is an error.
func (p *targetRun) windowsNow() (check.Windows, error) {
	schedule, exists, err := p.Guards.Schedule(p.at.Snapshot())
	freeze, is := errors.AsType[*guard.FreezeError](err)
	switch {
	case err == nil && !exists:
		return check.Windows{}, nil
	case err == nil:
		return check.Windows{File: p.Guards.File(), State: schedule.At(time.Now(), p.Environment, p.Service)}, nil
	case is && exists:
		return check.Windows{File: p.Guards.File(), Unreadable: freeze.Err}, nil
	}
	return check.Windows{}, err
}
