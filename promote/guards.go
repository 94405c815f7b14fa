package promote

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/moved"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
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

// permitted is why the step must not be committed on a tip; nil: it may be.
func (m *move) permitted(ctx context.Context, plan plan.Plan, tip gitops.Snapshot, over []guard.Override) error {
	if !m.passesMoved() {
		err := m.target.moved().Since(ctx, tip, m.target.over(), m.target.config.Gates.Wait)
		if moved.Is(err) && !m.target.committed() {
			return fmt.Errorf("%w; to have what Git says all the same, argocd app sync %s", err, m.target.App)
		}
		if err != nil {
			return err
		}
	}
	if err := m.oldServes(ctx, plan.Steps[m.index].Traffic); err != nil {
		return err
	}
	if err := m.stillAlone(ctx); err != nil {
		return err
	}
	if err := m.mayPromote(ctx, tip); err != nil {
		return err
	}
	if err := m.target.pulls().NotHeld(ctx, m.target.plan.ID, record.StepOf(m.step().Percent), m.index == 0); err != nil {
		return err
	}
	if !m.target.plan.Shifts() {
		return nil
	}
	return m.target.config.Guards.Permits(tip, guarded(m.target.Target), time.Now(), over)
}
