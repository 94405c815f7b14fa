package promote

import (
	"context"
	"errors"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/plan"
)

// Examine looks for what would break a promotion, and changes nothing. The
// error is about the overlay, in the words that a promotion would use; what is
// wrong with anything else is a finding. Without a Cluster only the overlay is
// looked at.
func Examine(ctx context.Context, c Config, on Systems) ([]check.Report, error) {
	r, err := open(ctx, event.CommandCheck, c, on)
	if err != nil {
		return nil, err
	}
	var reports []check.Report
	for _, p := range r.targets {
		facts, err := examined(ctx, p)
		if err != nil {
			return nil, err
		}
		reports = append(reports, check.Examine(facts, c.Skip...))
	}
	return reports, ctx.Err()
}

// examined are all facts that there are.
func examined(ctx context.Context, p *targetRun) (check.Facts, error) {
	seen, unseen := p.service.Observe(ctx, 0)
	p.saw(seen)
	wrong := p.gates.Read(p.at.Tree, p.at.Now.Objects())
	refused := refusal(ctx, p, unseen == nil)
	found, err := p.facts(ctx).All(ctx, p.at, p.planned)
	if err != nil {
		return found, err
	}
	found.Analysis, found.Refused = wrong, refused
	if p.at.App == nil && unseen != nil && !errors.Is(unseen, errNoCluster) {
		found.NoApp = unseen
	} else if unseen != nil {
		found.Unread["what is live"], found.Request.Shifts = unseen, true
	}
	return found, nil
}

// refusal is why a promotion would end before its first commit, in its own
// words. Without one its commits are planned.
func refusal(ctx context.Context, p *targetRun, seen bool) (err error) {
	at := p.at
	if _, err := at.Now.Traffic(); err != nil {
		return err
	}
	if !seen {
		at.LatestReady = p.Service + "-current"
	} else if at.Live != nil {
		at.LatestReady = live.Serving(at.Live)
	}
	plan, err := plan.New(p.config.Settings, at)
	if err != nil {
		return err
	}
	p.planned, err = plan.Try(ctx, p.config.Settings, at)
	return err
}
