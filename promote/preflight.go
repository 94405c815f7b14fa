package promote

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
)

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
	return &check.StopError{Findings: findings}
}

// facts gathers what the rules of the check judge of the target.
func (p *targetRun) facts(ctx context.Context) facts.Reader {
	return facts.Reader{
		Request: check.Request{
			Target: p.Target.Target, Environment: p.Environment, Overlay: p.Overlay, Also: p.config.Also,
			KeepPrevious: p.config.KeepPrevious, Probed: p.config.Gates.Probe.Path != "",
			Strict: p.config.Strict, PodSecurity: p.config.PodSecurity, Policies: p.config.Policies, CronJobs: p.gates.Templates.CronJobs(),
			Signer: p.config.Signer, ByAPI: p.config.ByAPI, ForgeKey: p.config.ForgeKey, Mode: p.config.Mode, Merge: p.config.Merge,
			OnlyThis: p.config.OnlyThis, Wait: p.config.Gates.Wait, Worst: worstOf(ctx, p),
		},
		Skip: p.config.Skip, Gates: p.config.Gates, Guards: p.config.Guards, Rights: p.gates.Rights(),
		Systems: p.systems.Facts, Overlay: p.infra, Revisions: p.systems.Cluster, Metrics: p.systems.Metrics,
	}
}

// worstOf is the longest that the run may take, and what comes after it when the
// last gate fails.
func worstOf(ctx context.Context, p *targetRun) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return p.config.ends(&p.gates, time.Until(end))
	}
	return p.config.ends(&p.gates, math.MaxInt64)
}
