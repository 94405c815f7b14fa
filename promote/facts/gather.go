package facts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/slo"
)

// gather asks Argo CD, by setup, the Git server, the forge and the Prometheus, all at the
// same time.
func (r Reader) gather(ctx context.Context, facts *check.Facts, at plan.Situation, setup func() (argo.Setup, error)) {
	var group sync.WaitGroup
	var push, blind, exist, unruled, unnamed, unrendered error
	byMetrics := r.Gates.ByMetrics()
	if byMetrics {
		facts.MetricsFrom, facts.Latency = string(r.Gates.SLO.From), usualLatency(r.Gates.SLO)
	}
	if byMetrics && r.Metrics != nil && at.Live != nil {
		group.Go(func() { facts.Latency, facts.Metrics = r.countable(ctx, at) })
	}
	if r.Git != nil {
		group.Go(func() { push = r.Git.MayPush(ctx) })
	}
	group.Go(func() { facts.Namesakes, unnamed = r.namesakes(ctx, at.App) })
	group.Go(func() { facts.Otherwise, facts.Rendered, unrendered = r.otherwise(ctx, at) })
	if r.BranchRules != nil {
		group.Go(func() { facts.Branch, unruled = r.BranchRules.BranchRules(ctx) })
	}
	if at.App != nil && r.Setup != nil {
		group.Go(func() { facts.Setup, blind = setup() })
	}
	group.Go(func() { exist = r.existing(ctx, facts, at) })
	group.Wait()
	if !facts.Rendered { // else that says it, of the version that Argo CD has
		facts.Differs, _ = kustomize.Differences(ctx, at.Tree, r.Request.Overlay) // the overlay has been rendered before
	}
	facts.Given = sync.OnceValue(func() map[string]int { return r.Overlay.Given(ctx, at.App) })
	facts.RolledBack = r.Overlay.RolledBack(ctx, at)
	// Drift comes first, so that what it wants to know of Given is read while there is time.
	if len(check.Drift(*facts)) > 0 || facts.RolledBack != "" { // else no rule asks for it
		facts.Deployed = r.Overlay.Deployed(ctx, at.App)
	}
	if push == nil || errors.Is(push, remote.ErrAuth) || errors.Is(push, remote.ErrNotFound) {
		facts.Push, facts.PushAsked, push = push, r.Git != nil, nil
	}
	for name, err := range map[string]error{"the right to push": push, "how Argo CD is set up": blind, "the revisions in the traffic": exist, "the forge's rules of the branch": unruled, "the Git server's references": unnamed, "what Argo CD renders": unrendered} {
		if err != nil {
			facts.Unread[name] = err
		}
	}
}

// countable is why the requests of the live revision cannot be counted, and what is
// known of the buckets in which their latency is.
func (r Reader) countable(ctx context.Context, at plan.Situation) (check.Latency, error) {
	objective := r.Gates.Objective()
	live := metrics.Revisions{Namespace: at.Live.Namespace, Candidate: at.Live.Status.LatestReadyRevisionName}
	counter, err := metrics.New(r.Metrics, objective, live)
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

// existing finds out which revisions of the rendered traffic, and those of the template and the live Service, exist,
// and why some of them are not Ready. One that could not be asked for is left out.
func (r Reader) existing(ctx context.Context, facts *check.Facts, at plan.Situation) (err error) {
	targets, errTraffic := at.Now.Traffic()
	if errTraffic != nil || at.Live == nil {
		return nil // a Service that cannot be read is a finding of its own
	}
	facts.Revisions, facts.NotReady, facts.WaitsForPods = map[string]bool{}, map[string]string{}, map[string]bool{}
	facts.Missing = map[string][]knative.Reference{}
	latest := at.Live.Status.LatestReadyRevisionName
	for _, name := range revisionsOf(at, targets) {
		if _, known := facts.Revisions[name]; known || name == "" {
			continue
		}
		switch found, failed := r.Revisions.Revision(ctx, r.Request.App, at.Live.Namespace, name); {
		case failed == nil:
			facts.Revisions[name] = true
			if own := cmp.Or(at.Now.Revision(), at.Live.Status.LatestCreatedRevisionName); name != own && found != nil {
				facts.Missing[name] = knative.Missing(found.Spec.PodSpec, at.Now) // an admission webhook may add to the template's own
			}
			if ready := plan.ReadinessBeside(nil, name, found, nil); ready.Why != "" {
				facts.NotReady[name] = ready.Why
				facts.WaitsForPods[name] = ready.Waits
			}
		case errors.Is(failed, argo.ErrNotFound):
			facts.Revisions[name] = name == latest
			if name == latest {
				facts.Unlisted = name
			}
		default:
			err = failed
		}
	}
	return err
}

// revisionsOf are the revisions to ask for, some of them more than once.
func revisionsOf(at plan.Situation, targets []servingv1.TrafficTarget) []string {
	names := []string{at.Live.Status.LatestReadyRevisionName}
	if _, latest := knative.Shares(targets)[""]; len(targets) > 0 && !latest {
		targets = slices.Concat(targets, at.Live.Status.Traffic) // which others may have changed
		names = append(names, at.Now.Revision())
		if at.Next != nil {
			next, _ := at.Next.NextRevision() // none, where the template makes none
			names = append(names, next)
		}
	}
	for _, target := range targets {
		names = append(names, target.RevisionName)
	}
	return names
}
