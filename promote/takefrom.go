package promote

import (
	"context"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/source"
)

// sourcePoll is how often a source is looked at that is waited for.
const sourcePoll = 5 * time.Second

// takeFrom sets the images of the target to those that run in the environment
// that the run promotes from, and waits for that where it is asked to, unless it only
// plans.
func (p *targetRun) takeFrom(ctx context.Context, tip gitops.Snapshot) error {
	if goesOn, err := p.origin.Resume(ctx, p.at); err != nil || goesOn {
		return err
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
