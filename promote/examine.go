package promote

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/slo"
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
		facts, err := p.examined(ctx)
		if err != nil {
			return nil, err
		}
		reports = append(reports, check.Examine(facts, c.Skip...))
	}
	return reports, ctx.Err()
}

// examined are all facts that there are.
func (p *targetRun) examined(ctx context.Context) (facts check.Facts, err error) {
	seen, unseen := p.service.Observe(ctx, 0)
	p.saw(seen)
	wrong := p.readAnalysis(p.at.Tree)
	facts = p.facts(ctx)
	facts.Analysis = wrong
	if p.at.App == nil && unseen != nil && !errors.Is(unseen, errNoCluster) {
		facts.NoApp = unseen
	} else if unseen != nil {
		facts.Unread["what is live"], facts.Request.Shifts = unseen, true
	}
	if facts.ImageEffects, err = p.at.Now.ImageEffects(ctx); err != nil {
		facts.Unread["what setting the image does"] = err
	}
	if facts.Outside, err = kustomize.Outside(ctx, p.at.Tree, p.Overlay); err != nil {
		facts.Unread["which files the overlay reads"] = err
	}
	if facts.Windows, err = p.windowsNow(); err != nil {
		return facts, err
	}
	if facts.Pipeline, err = proposal.PipelineOf(p.at.Snapshot(), p.Guards.Keys); err != nil {
		return facts, err
	}
	facts.Refused = p.refusal(ctx, unseen == nil)
	facts.Planned = p.planned
	if facts.Denials, err = p.denials(ctx); err != nil {
		return facts, err
	}
	p.gather(ctx, &facts, func() (argo.Setup, error) { return p.Setup.Setup(ctx, p.Target.Target, p.at.App, p.furtherRights()...) })
	return facts, nil
}

// refusal is why a promotion would end before its first commit, in its own
// words. Without one its commits are planned.
func (p *targetRun) refusal(ctx context.Context, seen bool) (err error) {
	at := p.at
	if _, err := at.Now.Traffic(); err != nil {
		return err
	}
	if !seen {
		at.LatestReady = p.Service + "-current"
	} else if at.Live != nil {
		at.LatestReady = live.Serving(at.Live)
	}
	plan, err := plan.New(p.Settings, at)
	if err != nil {
		return err
	}
	p.planned, err = plan.Try(ctx, p.Settings, at)
	return err
}

// facts are what is known before anybody is asked.
func (p *targetRun) facts(ctx context.Context) check.Facts {
	return check.Facts{
		Request: check.Request{
			Target: p.Target.Target, Environment: p.Environment, Overlay: p.Overlay, Also: p.Also,
			CandidateTag: p.at.Tag, Shifts: p.at.Live != nil, KeepPrevious: p.KeepPrevious, Probed: p.Gates.Probe.Path != "",
			Strict: p.Strict, PodSecurity: p.PodSecurity, Policies: p.Policies, CronJobs: p.templates.CronJobs(),
			Signer: p.Signer, ByAPI: p.ByAPI, ForgeKey: p.ForgeKey, Mode: p.Mode, Merge: p.Merge,
			OnlyThis: p.OnlyThis, Wait: p.Gates.Wait, Worst: p.worst(ctx), Now: time.Now(),
		},
		Commit: p.at.Tip.Hash, Tree: p.at.Tree, Overlay: p.at.Now, Next: p.at.Next, Planned: p.planned, Service: p.at.Live,
		Unread: map[string]error{},
	}
}

// worst is the longest that the run may take, and what comes after it when the
// last gate fails.
func (p *targetRun) worst(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return p.longest(p.templates, time.Until(end))
	}
	return p.longest(p.templates, math.MaxInt64)
}

// tellTime says before the first commit that the run may have too little time left for
// its gates.
func (p *targetRun) tellTime(ctx context.Context) {
	end, limited := ctx.Deadline()
	var longest time.Duration
	for _, step := range p.plan.Steps {
		longest += p.patience(step)
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
		patience := p.patience(step)
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
	return c.longest(gate.Templates{}, limit)
}

// longest is the same with the templates as a target has them.
func (c Config) longest(templates gate.Templates, limit time.Duration) time.Duration {
	total := gate.Patience(c.Gates.After(c.asked("", plan.Step{}), templates)) // the candidate
	for _, step := range c.Steps {
		total += gate.Patience(c.Gates.After(c.asked("", step), templates))
	}
	return min(total, limit) + c.Gates.Wait + c.reviewTime()
}

// gather asks Argo CD, by setup, and the Git server, all at the same time.
func (p *targetRun) gather(ctx context.Context, facts *check.Facts, setup func() (argo.Setup, error)) {
	var group sync.WaitGroup
	var push, blind, exist, unruled error
	byMetrics := p.Gates.ByMetrics()
	if byMetrics {
		facts.MetricsFrom, facts.Latency = string(p.Gates.SLO.From), usualLatency(p.Gates.SLO)
	}
	if byMetrics && p.Metrics != nil && p.at.Live != nil {
		group.Go(func() { facts.Latency, facts.Metrics = p.countable(ctx) })
	}
	if p.PushRight != nil {
		group.Go(func() { push = p.PushRight.MayPush(ctx) })
	}
	if p.BranchRules != nil {
		group.Go(func() { facts.Branch, unruled = p.BranchRules.BranchRules(ctx) })
	}
	if p.at.App != nil && p.Setup != nil {
		group.Go(func() { facts.Setup, blind = setup() })
	}
	group.Go(func() { facts.Revisions, facts.NotReady, exist = p.existing(ctx) })
	group.Wait()
	if push == nil || errors.Is(push, gitops.ErrAuth) || errors.Is(push, gitops.ErrNotFound) {
		facts.Push, facts.PushAsked, push = push, p.PushRight != nil, nil
	}
	for name, err := range map[string]error{"the right to push": push, "how Argo CD is set up": blind, "the revisions in the traffic": exist, "the forge's rules of the branch": unruled} {
		if err != nil {
			facts.Unread[name] = err
		}
	}
}

// countable is why the requests of the live revision cannot be counted, and what is
// known of the buckets in which their latency is.
func (p *targetRun) countable(ctx context.Context) (check.Latency, error) {
	objective := p.Gates.Objective()
	live := metrics.Revisions{Namespace: p.at.Live.Namespace, Candidate: p.at.Live.Status.LatestReadyRevisionName}
	counter, err := metrics.New(p.Metrics, objective, live)
	if err != nil {
		return check.Latency{}, err
	}
	_, err = counter.Counts(ctx)
	if b, read := counter.Nearest(); read {
		return check.Latency{Limit: objective.Latency, Below: b.Below, Above: b.Above, Scraped: true}, err
	}
	return usualLatency(objective), err
}

// usualLatency is what is known of the buckets that nobody has read.
func usualLatency(of slo.Objective) check.Latency {
	b, known := metrics.Usual(of)
	if !known {
		return check.Latency{}
	}
	return check.Latency{Limit: of.Latency, Below: b.Below, Above: b.Above}
}

// existing finds out which revisions of the rendered traffic exist, and why some of
// them are not Ready. One that could not be asked for is left out.
func (p *targetRun) existing(ctx context.Context) (exist map[string]bool, notReady map[string]string, err error) {
	targets, err := p.at.Now.Traffic()
	if err != nil || p.at.Live == nil {
		return nil, nil, nil // a Service that cannot be read is a finding of its own
	}
	exist, notReady = map[string]bool{}, map[string]string{}
	if _, latest := knative.Shares(targets)[""]; len(targets) > 0 && !latest {
		targets = slices.Concat(targets, p.at.Live.Status.Traffic) // which others may have changed
	}
	for _, target := range targets {
		name := target.RevisionName
		if _, known := exist[name]; known || name == "" {
			continue
		}
		switch found, failed := p.Cluster.Revision(ctx, p.App, p.at.Live.Namespace, name); {
		case failed == nil:
			exist[name] = true
			if ready := plan.ReadinessBeside(nil, name, found, nil); ready.Why != "" {
				notReady[name] = ready.Why
			}
		case name == p.at.Live.Status.LatestReadyRevisionName:
			exist[name] = true // Argo CD can be told not to look at revisions
		case errors.Is(failed, argo.ErrNotFound):
			exist[name] = false
		default:
			err = failed
		}
	}
	return exist, notReady, err
}
