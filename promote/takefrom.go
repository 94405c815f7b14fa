package promote

import (
	"context"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/source"
)

// sourcePoll is how often a source is looked at that is waited for.
const sourcePoll = 5 * time.Second

// takeFrom sets the images of the target to those that run in the environment
// that the run promotes from, and waits for that where it is asked to, unless it only
// plans.
func (p *targetRun) takeFrom(ctx context.Context, tip gitops.Snapshot) error {
	if len(p.config.From) == 0 || p.origin.Resume(p.at) {
		return nil
	}
	var said time.Time
	for until := time.Now().Add(p.config.WaitForSource); ; {
		err := p.origin.Take(ctx, tip, &p.at)
		if !source.IsNotYet(err) || p.config.DryRun || !time.Now().Before(until) {
			return err
		}
		if time.Since(said) >= time.Minute {
			said = time.Now()
			p.journal.Say("waiting for up to %s: %v", time.Until(until).Round(time.Second), err)
		}
		if err := sleep.For(ctx, min(sourcePoll, time.Until(until))); err != nil {
			return err
		}
		if tip, err = p.systems.Branch.Tip(ctx); err != nil {
			return err
		}
		if err := p.read(ctx, tip); err != nil {
			return err
		}
		if err := p.observe(ctx, 0); err != nil {
			return err
		}
	}
}

// notWithdrawn refuses to begin a promotion of the overlay's images as they stand, where
// those were rolled back and could not be taken out of the overlay. A candidate at 0 % is no
// beginning: a pull request's merge may have made it.
func notWithdrawn(p *targetRun, plan plan.Plan) error {
	if len(p.at.Images) > 0 || p.config.DryRun || plan.Record.Promotion == plan.ID && plan.Record.HasBegun() {
		return nil
	}
	gone := p.origin.Withdrawn(p.at)
	if gone == "" {
		return nil
	}
	return setting.Bad("image: unchanged: the overlay %s still has what %s was made of, with the image %s, which was rolled back: expected the image that is to run and the configuration for it, or override: rolled-back and a reason", p.Overlay, gone, plan.Image)
}

// mayPromote is why the images must get no more traffic on a tip, because of where they
// come from; nil: they may.
func (m *move) mayPromote(ctx context.Context, tip gitops.Snapshot) error {
	if m.index == 0 && m.target.origin.Looked() && m.target.plan.Record.Promotion != m.target.plan.ID {
		return m.target.origin.Stand(ctx, tip)
	}
	return m.target.origin.NotWithdrawn(ctx, tip, m.target.plan, m.target.at)
}

// sourcesStill is why a promotion must not be noted as passed, that has all its commits:
// what it comes from was rolled back there while its last gates were asked.
func (r *run) sourcesStill(ctx context.Context) error {
	left := slices.DeleteFunc(r.unclosed(), func(c closing) bool { return c.target.plan.Source.IsZero() })
	if len(left) == 0 {
		return nil
	}
	tip, err := r.systems.Branch.Tip(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		p := c.target
		if err := p.origin.NotWithdrawn(ctx, tip, p.plan, p.at); err != nil {
			return p.named(err)
		}
	}
	return nil
}
