package promote

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
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

// tellTime says before the first commit that the run may have too little time left for
// its gates.
func tellTime(ctx context.Context, p *targetRun) {
	end, limited := ctx.Deadline()
	var longest time.Duration
	for _, step := range p.plan.Steps {
		longest += patienceOf(p, step)
	}
	if left := time.Until(end).Round(time.Second); limited && left < longest {
		p.journal.Say("timeout: the run has %s left, and its gates may take up to %s: one that is asked when the time ends counts as failed, or as inconclusive where it counts requests; give a longer timeout, or shorter times in steps", left, longest)
	}
}

// tellPlan says which commits a run would make, and how long the gates of each may
// take.
func tellPlan(p *targetRun) {
	var longest time.Duration
	commits := 0
	for _, step := range p.plan.Steps {
		if step.Done {
			continue
		}
		patience := patienceOf(p, step)
		longest += patience
		commits++
		p.journal.Say("plan: %s; its gates may take up to %s", step.Subject, patience)
	}
	if commits > 1 {
		p.journal.Say("plan: %d commits, and one more that notes that the last gate has passed; at most %s in all", commits, longest)
	}
}

// Worst is the longest that a run may take that is ended at the limit, and what
// comes after it when the last gate fails. How long an analysis may take is known
// from its files only.
func (c Config) Worst(limit time.Duration) time.Duration {
	gates := c.gates(analysis.Sources{})
	return c.ends(&gates, limit)
}

// ends is the same with the gates as a target has them.
func (c Config) ends(gates *ask.Gates, limit time.Duration) time.Duration {
	return min(gates.Longest(), limit) + c.Gates.Wait + c.reviewTime()
}

// gates are those that the run asks of each target.
func (c Config) gates(sources analysis.Sources) ask.Gates {
	return ask.Gates{Settings: c.Gates, Steps: c.Steps, Sources: sources, GoesOn: c.OnInconclusive == GoOn}
}
