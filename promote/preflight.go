package promote

import (
	"context"
	"slices"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
)

// Preflight says what a promotion does about an error that it finds before its
// first commit. The zero value is PreflightError.
type Preflight string

// The kinds of preflight.
const (
	PreflightError Preflight = "error" // the run ends before anything is pushed
	PreflightWarn  Preflight = "warn"  // the run says so and goes on
	PreflightOff   Preflight = "off"   // nothing is looked at
	PreflightPlan  Preflight = "plan"  // nobody is asked: what is planned is looked at alone
)

// preflight looks for what would break the promotions, before the first commit of
// the run. One that is under way is judged all the same, so that what is bad is
// rolled back: what was found bars its next step. But nothing is judged, and no sync
// asked for, where somebody has moved the traffic past Git.
func (r *run) preflight(ctx context.Context) error {
	for _, p := range r.targets {
		err := loadAnalysis(ctx, p)
		if p.gates.Templates.Unread = err; err == nil && !p.resumed() {
			err = p.gates.Fit(ctx) // what is under way is measured as far as it comes
		}
		if err == nil {
			err = p.preflight(ctx)
		}
		if isDrifted(err) {
			return p.named(err)
		}
		if r.forbidden == nil {
			r.forbidden = p.named(err)
		}
	}
	if underWay(r) && !r.config.DryRun && ctx.Err() == nil {
		return nil
	}
	return r.forbidden
}

// underWay tells whether Git shows a step that may still have to be rolled back.
func underWay(r *run) bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return p.plan.Restorable() && p.resumed() })
}

// unjudged tells whether a target was asked for a gate that cannot be read. What
// has no step left above it has not passed that gate, whatever counts as passed.
func unjudged(r *run) bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return p.gates.Templates.Unread != nil })
}

// resumed tells whether Git showed a step of the plan before the run.
func (p *targetRun) resumed() bool { return len(p.plan.Steps) > 0 && p.plan.Steps[0].Done }

// preflight looks for what would break the promotion of one target. What it
// cannot read never stops it.
func (p *targetRun) preflight(ctx context.Context) error {
	switch {
	case p.config.Preflight == PreflightPlan:
		planned, err := p.facts(ctx).Planned(ctx, p.at, p.planned)
		if err != nil {
			return err
		}
		return stopped(p, check.Proposed(planned, p.config.Skip...))
	case p.config.Preflight == PreflightOff || p.at.App == nil || p.systems.Facts.Setup == nil:
		return nil
	}
	found, err := p.facts(ctx).Preflight(ctx, p.at, p.planned)
	if err != nil {
		return err
	}
	skip := p.config.Skip
	if name, err := p.at.Next.NextRevision(); err == nil && name == p.at.Now.Revision() {
		skip = append(slices.Clone(skip), check.OutOfSync) // what is under way continues, or is rolled back
		if p.plan.ID != "" && !p.plan.Record.HasPassed() && p.infra.MayLag(ctx, p.at.Tip.Hash, p.at) {
			skip = append(skip, check.Drifted) // its last commit need not be synced yet
		}
	}
	return stopped(p, check.Run(found, skip...))
}

// stopped is why findings stop the promotion; nil: they do not.
func stopped(p *targetRun, findings []event.Finding) error {
	p.journal.Tell(event.Found{Findings: findings})
	if p.config.Preflight == PreflightWarn || event.Count(findings, event.SeverityError) == 0 {
		return nil
	}
	return &PreflightStop{findings}
}
