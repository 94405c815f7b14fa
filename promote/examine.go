package promote

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
)

// Surroundings is how Argo CD is set up around an Application: all of it, or
// in a few requests what can stop a promotion.
type Surroundings interface {
	Setup(ctx context.Context, app argo.App, service string, known *v1alpha1.Application) (argo.Setup, error)
	Essentials(ctx context.Context, known *v1alpha1.Application) argo.Setup
}

// Door tells whether the infra repository takes a push, without one.
type Door interface {
	MayPush(context.Context) error
}

// Examine looks for what would break a promotion, and changes nothing. The
// error is about the overlay, in the words that a promotion would use; what is
// wrong with anything else is a finding. Without a Cluster only the overlay is
// looked at.
func (p *Promotion) Examine(ctx context.Context) (check.Report, error) {
	facts, err := p.examined(ctx)
	if err != nil {
		return check.Report{}, err
	}
	return check.Examine(facts, p.Skip...), ctx.Err()
}

// examined are all facts that there are.
func (p *Promotion) examined(ctx context.Context) (check.Facts, error) {
	p.begin(commandCheck)
	at, err := p.lookInside(ctx)
	if err != nil {
		return check.Facts{}, err
	}
	unseen := p.glance(ctx)
	facts := p.facts(ctx, at)
	if p.app == nil && (errors.Is(unseen, argo.ErrNotFound) || errors.Is(unseen, argo.ErrAuth)) {
		facts.NoApp = unseen
	} else if unseen != nil {
		facts.Unread["what is live"], facts.Wish.Shifts = unseen, true
	}
	if facts.Outlooks, err = at.Now.Outlooks(ctx); err != nil {
		facts.Unread["what setting the image does"] = err
	}
	if facts.Outside, err = kustomize.Outside(ctx, at.Tree, p.Overlay); err != nil {
		facts.Unread["which files the overlay reads"] = err
	}
	facts.Refused = p.refusal(ctx, at, unseen == nil)
	p.gather(ctx, &facts, func() (argo.Setup, error) { return p.Surroundings.Setup(ctx, p.App, p.Service, p.app) })
	return facts, nil
}

// refusal is why a promotion would end before its first commit, in its own
// words.
func (p *Promotion) refusal(ctx context.Context, at Situation, seen bool) (err error) {
	if _, err := at.Now.Traffic(); err != nil {
		return err
	}
	switch {
	case !seen:
		at.LatestReady = p.Service + "-current"
	case p.live != nil:
		if at.LatestReady, err = p.ready(); err != nil {
			return err
		}
	}
	plan, err := NewPlan(p.Config, at)
	if err != nil {
		return err
	}
	_, err = p.rehearse(ctx, plan, at)
	return err
}

// glance looks at the Application and the live Service. A Service that is not
// there yet is no error.
func (p *Promotion) glance(ctx context.Context) error {
	if p.Cluster == nil {
		return errors.New("no argocd-server and application are given")
	}
	seen, err := p.Cluster.Live(ctx, p.App, p.Source, p.Service)
	p.see(seen)
	if errors.Is(err, argo.ErrNotFound) && seen.App != nil {
		return nil
	}
	return err
}

// facts are what is known before anybody is asked.
func (p *Promotion) facts(ctx context.Context, at Situation) check.Facts {
	return check.Facts{
		Wish: check.Wish{
			Service: p.Service, Folder: p.Overlay, Source: p.Source, App: p.App, Also: p.Also,
			CandidateTag: p.CandidateTag, Shifts: p.live != nil, KeepPrevious: p.KeepPrevious, Probed: p.Probe.Path != "",
			Wait: p.WaitTimeout, Worst: p.worst(ctx), Now: time.Now(),
		},
		Commit: at.Tip.Hash, Tree: at.Tree, Overlay: at.Now, Next: at.Next, Service: p.live,
		Unread: map[string]error{},
	}
}

// worst is the longest that the run may take, and what comes after it when the
// last gate fails.
func (p *Promotion) worst(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return p.Worst(time.Until(end))
	}
	return p.Worst(math.MaxInt64)
}

// Worst is the longest that a run may take that is ended at the limit, and what
// comes after it when the last gate fails.
func (c Config) Worst(limit time.Duration) time.Duration {
	each := c.WaitTimeout
	if c.Probe.Path != "" {
		each += probePatience
	}
	total := each // the candidate
	for _, step := range c.Steps {
		total += each + step.Bake
	}
	return min(total, limit) + c.WaitTimeout
}

// gather asks Argo CD, by setup, and the Git server, all at the same time.
func (p *Promotion) gather(ctx context.Context, facts *check.Facts, setup func() (argo.Setup, error)) {
	var group sync.WaitGroup
	var push, blind, exist error
	if p.Door != nil {
		group.Go(func() { push = p.Door.MayPush(ctx) })
	}
	if p.app != nil && p.Surroundings != nil {
		group.Go(func() { facts.Setup, blind = setup() })
	}
	group.Go(func() { facts.Revisions, exist = p.existing(ctx, facts.Overlay) })
	group.Wait()
	if push == nil || errors.Is(push, gitops.ErrAuth) || errors.Is(push, gitops.ErrNotFound) {
		facts.Push, facts.PushAsked, push = push, p.Door != nil, nil
	}
	for name, err := range map[string]error{"the right to push": push, "how Argo CD is set up": blind, "the revisions in the traffic": exist} {
		if err != nil {
			facts.Unread[name] = err
		}
	}
}

// existing finds out which revisions of the rendered traffic exist. One that
// could not be asked for is left out.
func (p *Promotion) existing(ctx context.Context, overlay *knative.State) (map[string]bool, error) {
	targets, err := overlay.Traffic()
	if err != nil || p.Cluster == nil || p.live == nil {
		return nil, nil // a Service that cannot be read is a finding of its own
	}
	exist := map[string]bool{}
	for _, target := range targets {
		name := target.RevisionName
		if _, known := exist[name]; known || name == "" {
			continue
		}
		if name == p.live.Status.LatestReadyRevisionName {
			exist[name] = true
			continue
		}
		switch _, failed := p.Cluster.Revision(ctx, p.App, p.live.Namespace, name); {
		case failed == nil:
			exist[name] = true
		case errors.Is(failed, argo.ErrNotFound):
			exist[name] = false
		default:
			err = failed
		}
	}
	return exist, err
}
