package promote

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// comesFrom completes a plan with what its images come from: what the run has looked at, or
// what the promotion under way has, whatever the run names.
func (p *part) comesFrom(plan *plan.Plan) error {
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
func (p *part) fromBranch() string {
	if p.FromBranch == p.Source.Branch {
		return ""
	}
	return p.FromBranch
}

// sourceWithdrew is why a promotion of what a source had must get no more traffic: there it
// was rolled back meanwhile, by its revision or by its images, whose names may be others
// there. Which source it was says the record, whatever the run names. One that cannot be
// read any more permits nothing.
func (p *part) sourceWithdrew(ctx context.Context, tip gitops.Snapshot) error {
	if p.plan.Source.IsZero() || p.Guards.PassesOver(guard.OverrideRolledBack) {
		return nil
	}
	tip, err := p.sourceTip(ctx, tip)
	if err != nil {
		return err
	}
	for _, one := range p.plan.Source.All() {
		_, at, err := p.readSource(ctx, tip, one.Overlay)
		if err != nil {
			return &NotYetError{From: one.Overlay, Reason: fmt.Sprintf("nobody can tell whether what is promoted here was rolled back there: %v; to go on all the same give override: rolled-back and a reason", err)}
		}
		if gone := goneFrom(at.Record.Of(at.Place()), one.Revision, p.at.Next); gone != "" {
			return &NotYetError{From: one.Overlay, Reason: gone + " there meanwhile; to go on all the same give override: rolled-back and a reason, and to roll it back here too: rollback"}
		}
	}
	return nil
}

// sourcesStill is why a promotion must not be noted as passed, that has all its commits:
// what it comes from was rolled back there while its last gates were asked.
func (r *run) sourcesStill(ctx context.Context) error {
	left := slices.DeleteFunc(r.unclosed(), func(c closing) bool { return c.part.plan.Source.IsZero() })
	if len(left) == 0 {
		return nil
	}
	tip, err := r.Branch.Tip(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		if err := c.part.sourceWithdrew(ctx, tip); err != nil {
			return c.part.named(err)
		}
	}
	return nil
}

// goneFrom says that a source whose record has come to this has no more what was taken from
// it; empty: it may have.
func goneFrom(there record.Record, revision string, images *knative.State) string {
	gone := there.Withdrawn(images)
	if there.Withdrew(revision) {
		gone = revision
	}
	switch {
	case gone != "":
		return gone + ", with the images that are promoted here, was rolled back"
	case !there.Cut && !slices.Contains(record.Known(there.Entries()), revision):
		return revision + ", with the images that are promoted here, was taken out of Git"
	}
	return ""
}
