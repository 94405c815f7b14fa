package promote

import (
	"context"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/kustomize"
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

// preflightTime is how long a promotion waits for what it can do without.
const preflightTime = 10 * time.Second

// preflight looks for what would break the promotions, before the first commit of
// the run. One that is under way is judged all the same, so that what is bad is
// rolled back: what was found bars its next step. But nothing is judged, and no sync
// asked for, where somebody has moved the traffic past Git.
func (r *run) preflight(ctx context.Context) error {
	for _, p := range r.targets {
		err := p.loadAnalysis(ctx)
		if p.templates.Unread = err; err == nil {
			err = p.measurable(ctx)
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
	if r.underWay() && !r.DryRun && ctx.Err() == nil {
		return nil
	}
	return r.forbidden
}

// underWay tells whether Git shows a step that may still have to be rolled back.
func (r *run) underWay() bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return p.plan.Restorable() && p.resumed() })
}

// unjudged tells whether a target was asked for a gate that cannot be read. What
// has no step left above it has not passed that gate, whatever counts as passed.
func (r *run) unjudged() bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return p.templates.Unread != nil })
}

// resumed tells whether Git showed a step of the plan before the run.
func (p *targetRun) resumed() bool { return len(p.plan.Steps) > 0 && p.plan.Steps[0].Done }

// preflight looks for what would break the promotion of one target. What it
// cannot read never stops it.
func (p *targetRun) preflight(ctx context.Context) error {
	switch {
	case p.Preflight == PreflightPlan:
		return p.examinePlan(ctx)
	case p.Preflight == PreflightOff || p.at.App == nil || p.Setup == nil:
		return nil
	}
	facts := p.facts(ctx)
	var err error
	if facts.Denials, err = p.denials(ctx); err != nil {
		return err
	}
	facts.Outside, _ = kustomize.Outside(ctx, p.at.Tree, p.Overlay) // it has been rendered before
	asked, stop := context.WithTimeout(ctx, preflightTime)
	defer stop()
	p.gather(asked, &facts, func() (argo.Setup, error) {
		return p.Setup.Essentials(asked, p.Target.Target, p.at.App, p.furtherRights()...), nil
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	skip := p.Skip
	if name, err := p.at.Next.NextRevision(); err == nil && name == p.at.Now.Revision() {
		skip = append(slices.Clone(skip), check.OutOfSync) // what is under way continues, or is rolled back
		if p.plan.ID != "" && !p.plan.Record.HasPassed() && p.infra.Unsynced(ctx, p.at.Tip.Hash, p.at.Now, p.at.App) {
			skip = append(skip, check.Drifted) // its last commit need not be synced yet
		}
	}
	return p.stopped(check.Run(facts, skip...))
}

// examinePlan looks at what the planned commits render to.
func (p *targetRun) examinePlan(ctx context.Context) error {
	facts := p.facts(ctx)
	var err error
	if facts.Denials, err = p.denials(ctx); err != nil {
		return err
	}
	return p.stopped(check.Proposed(facts, p.Skip...))
}

// stopped is why findings stop the promotion; nil: they do not.
func (p *targetRun) stopped(findings []event.Finding) error {
	p.journal.Tell(event.Found{Findings: findings})
	if p.Preflight == PreflightWarn || event.Count(findings, event.SeverityError) == 0 {
		return nil
	}
	return &PreflightStop{findings}
}
