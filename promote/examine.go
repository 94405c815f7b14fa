package promote

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
)

// Examine looks for what would break a promotion, and changes nothing. The
// error is about the overlay, in the words that a promotion would use; what is
// wrong with anything else is a finding. Without a Cluster only the overlay is
// looked at.
func Examine(ctx context.Context, c Config, on Systems) (check.Report, error) {
	facts, err := examined(ctx, c, on)
	if err != nil {
		return check.Report{}, err
	}
	return check.Examine(facts, c.Skip...), ctx.Err()
}

// examined are all facts that there are.
func examined(ctx context.Context, c Config, on Systems) (check.Facts, error) {
	r, at, err := open(ctx, commandCheck, c, on)
	if err != nil {
		return check.Facts{}, err
	}
	seen, unseen := r.service.look(ctx, 0)
	r.saw(&at, seen)
	facts := r.facts(ctx, at)
	if at.App == nil && (errors.Is(unseen, argo.ErrNotFound) || errors.Is(unseen, argo.ErrAuth)) {
		facts.NoApp = unseen
	} else if unseen != nil {
		facts.Unread["what is live"], facts.Request.Shifts = unseen, true
	}
	if facts.Outlooks, err = at.Now.Outlooks(ctx); err != nil {
		facts.Unread["what setting the image does"] = err
	}
	if facts.Outside, err = kustomize.Outside(ctx, at.Tree, r.Overlay); err != nil {
		facts.Unread["which files the overlay reads"] = err
	}
	facts.Refused = r.refusal(ctx, at, unseen == nil)
	r.gather(ctx, &facts, at, func() (argo.Setup, error) { return r.Setup.Setup(ctx, r.Target.Target, at.App) })
	return facts, nil
}

// refusal is why a promotion would end before its first commit, in its own
// words.
func (r *run) refusal(ctx context.Context, at Situation, seen bool) (err error) {
	if _, err := at.Now.Traffic(); err != nil {
		return err
	}
	switch {
	case !seen:
		at.LatestReady = r.Service + "-current"
	case at.Live != nil:
		if at.LatestReady, err = latestReady(at.Live); err != nil {
			return err
		}
	}
	plan, err := NewPlan(r.Config, at)
	if err != nil {
		return err
	}
	_, err = tryPlan(ctx, r.Config, plan, at)
	return err
}

// facts are what is known before anybody is asked.
func (r *run) facts(ctx context.Context, at Situation) check.Facts {
	return check.Facts{
		Request: check.Request{
			Target: r.Target.Target, Overlay: r.Overlay, Also: r.Also,
			CandidateTag: r.CandidateTag, Shifts: at.Live != nil, KeepPrevious: r.KeepPrevious, Probed: r.Probe.Path != "",
			Wait: r.WaitTimeout, Worst: r.worst(ctx), Now: time.Now(),
		},
		Commit: at.Tip.Hash, Tree: at.Tree, Overlay: at.Now, Next: at.Next, Service: at.Live,
		Unread: map[string]error{},
	}
}

// worst is the longest that the run may take, and what comes after it when the
// last gate fails.
func (r *run) worst(ctx context.Context) time.Duration {
	if end, limited := ctx.Deadline(); limited {
		return r.Worst(time.Until(end))
	}
	return r.Worst(math.MaxInt64)
}

// Worst is the longest that a run may take that is ended at the limit, and what
// comes after it when the last gate fails.
func (c Config) Worst(limit time.Duration) time.Duration {
	total := c.patience(Step{}) // the candidate
	for _, step := range c.Steps {
		total += c.patience(step)
	}
	return min(total, limit) + c.WaitTimeout
}

// gather asks Argo CD, by setup, and the Git server, all at the same time.
func (r *run) gather(ctx context.Context, facts *check.Facts, at Situation, setup func() (argo.Setup, error)) {
	var group sync.WaitGroup
	var push, blind, exist error
	if r.PushRight != nil {
		group.Go(func() { push = r.PushRight.MayPush(ctx) })
	}
	if at.App != nil && r.Setup != nil {
		group.Go(func() { facts.Setup, blind = setup() })
	}
	group.Go(func() { facts.Revisions, exist = r.existing(ctx, at) })
	group.Wait()
	if push == nil || errors.Is(push, gitops.ErrAuth) || errors.Is(push, gitops.ErrNotFound) {
		facts.Push, facts.PushAsked, push = push, r.PushRight != nil, nil
	}
	for name, err := range map[string]error{"the right to push": push, "how Argo CD is set up": blind, "the revisions in the traffic": exist} {
		if err != nil {
			facts.Unread[name] = err
		}
	}
}

// existing finds out which revisions of the rendered traffic exist. One that
// could not be asked for is left out.
func (r *run) existing(ctx context.Context, at Situation) (map[string]bool, error) {
	targets, err := at.Now.Traffic()
	if err != nil || at.Live == nil {
		return nil, nil // a Service that cannot be read is a finding of its own
	}
	exist := map[string]bool{}
	for _, target := range targets {
		name := target.RevisionName
		if _, known := exist[name]; known || name == "" {
			continue
		}
		if name == at.Live.Status.LatestReadyRevisionName {
			exist[name] = true
			continue
		}
		switch _, failed := r.Cluster.Revision(ctx, r.App, at.Live.Namespace, name); {
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
