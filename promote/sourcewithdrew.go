package promote

import (
	"cmp"
	"context"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// comesFrom completes a plan with what its images come from: what the run has looked at, or
// what the promotion under way has, whatever the run names.
func (p *targetRun) comesFrom(plan *plan.Plan) error {
	plan.Source, plan.Code = p.source, p.code
	if has := p.at.Record.Of(p.Place()); plan.Source.IsZero() {
		plan.Source, plan.Code = has.SourceOf(p.at.Next), has.Code
	}
	if plan.Source.IsZero() || plan.Source.Branch == p.fromBranch() || p.Guards.PassesOver(guard.OverrideRolledBack) {
		return nil
	}
	branch := cmp.Or(plan.Source.Branch, p.Source.Branch)
	return setting.Bad("from-branch: the images of the promotion under way come from %s on branch %s, which tells whether they were rolled back there: expected from: %s and from-branch: %s",
		plan.Source.Overlay, branch, plan.Source.Overlay, branch)
}

// fromBranch has the sources; empty: the target's own has.
func (p *targetRun) fromBranch() string {
	if p.FromBranch == p.Source.Branch {
		return ""
	}
	return p.FromBranch
}

// sourceWithdrew is why a promotion of what a source had must get no more traffic: there it
// was rolled back meanwhile, by its revision or by its images, whose names may be others
// there. Which source it was says the record, whatever the run names. One that cannot be
// read any more permits nothing.
func (p *targetRun) sourceWithdrew(ctx context.Context, tip gitops.Snapshot) error {
	if p.plan.Source.IsZero() || p.Guards.PassesOver(guard.OverrideRolledBack) {
		return nil
	}
	tip, err := p.sources().Tip(ctx, tip)
	if err != nil {
		return err
	}
	for _, one := range p.plan.Source.All() {
		if err := p.sources().Withdrew(ctx, tip, one, p.at.Next); err != nil {
			return err
		}
	}
	return nil
}

// sourcesStill is why a promotion must not be noted as passed, that has all its commits:
// what it comes from was rolled back there while its last gates were asked.
func (r *run) sourcesStill(ctx context.Context) error {
	left := slices.DeleteFunc(r.unclosed(), func(c closing) bool { return c.targetRun.plan.Source.IsZero() })
	if len(left) == 0 {
		return nil
	}
	tip, err := r.Branch.Tip(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		if err := c.targetRun.sourceWithdrew(ctx, tip); err != nil {
			return c.targetRun.named(err)
		}
	}
	return nil
}
