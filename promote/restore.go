package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// A destination is what taking back leads to: the images of an earlier
// overlay, its revision and who gets the traffic.
type destination struct {
	state    *knative.State // the earlier overlay
	revision string         // the revision that takes the traffic
	traffic  []servingv1.TrafficTarget
	made     bool // the revision was made of the earlier overlay's template
	gone     bool // the revision is not in the cluster any more
}

// restore takes a failed promotion back in one commit and waits until that is
// live. The run's own context may be over, this has its own time.
func (p *Promotion) restore(ctx context.Context, plan Plan, cause error) error {
	own, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*p.WaitTimeout)
	defer stop()
	at, err := p.takeBack(own, plan, cause)
	if err != nil {
		return err
	}
	// The commit is made. A run that is cancelled has no time to see it live,
	// but Argo CD must look at it.
	defer context.AfterFunc(ctx, func() {
		if cancelled(ctx) {
			time.AfterFunc(announceTime, stop)
		}
	})()
	return p.confirm(own, at)
}

// cancelled tells whether somebody has cancelled the run, as its cause need not
// be context.Canceled.
func cancelled(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }

// takeBack commits what was there before the promotion.
func (p *Promotion) takeBack(ctx context.Context, plan Plan, cause error) (*Position, error) {
	dest, err := p.before(ctx, plan)
	if err != nil {
		return nil, err
	}
	return p.goTo(ctx, plan, stepRestore, dest, cause.Error(), func(now *knative.State) bool {
		return slices.Equal(now.Images(), plan.images) && slices.ContainsFunc(plan.Steps, func(c Change) bool { return shows(now, plan.To, c.Traffic) })
	})
}

// before is the destination of a promotion that is taken back: the overlay of
// its base commit, with the old revision by name.
func (p *Promotion) before(ctx context.Context, plan Plan) (destination, error) {
	base, err := p.History.At(ctx, plan.Base)
	if err != nil {
		return destination{}, fmt.Errorf("reading what was there before: %w", err)
	}
	state, err := knative.Read(ctx, base.Tree, p.Overlay, p.Service)
	if err != nil {
		return destination{}, fmt.Errorf("reading what was there before: %w", err)
	}
	traffic, err := state.Traffic()
	if err != nil {
		return destination{}, err
	}
	made, err := madeOf(plan.From, state, func() (*servingv1.Revision, error) { return p.liveRevision(ctx, plan.From) })
	if err != nil {
		return destination{}, err
	}
	if state.Owned() {
		return destination{state: state, revision: plan.From, traffic: p.withoutGone(ctx, traffic), made: made}, nil
	}
	split, err := knative.ReadSplit(traffic, p.CandidateTag)
	if err != nil {
		return destination{}, err
	}
	split.Stable, split.Candidate = plan.From, ""
	return destination{state: state, revision: plan.From, traffic: split.Targets(p.CandidateTag, p.KeepPrevious), made: made}, nil
}

// withoutGone drops the target `previous` when its revision is not there any
// more: naming it would hold up all of the Service's traffic.
func (p *Promotion) withoutGone(ctx context.Context, traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	return slices.DeleteFunc(slices.Clone(traffic), func(t servingv1.TrafficTarget) bool {
		return t.Tag == knative.PreviousTag && knative.Percent(t) == 0 && !p.exists(ctx, t.RevisionName)
	})
}

// goTo commits a destination and says what must become true.
func (p *Promotion) goTo(ctx context.Context, plan Plan, name string, dest destination, reason string, mayChange func(*knative.State) bool) (*Position, error) {
	image := headline(dest.state, dest.state)
	what := "back to " + short(p.Service, dest.revision) + " (" + version(image) + ")"
	subject := strings.TrimSpace(p.Service+" "+p.Environment) + ": " + what
	p.result.Steps = append(p.result.Steps, StepResult{Name: name, Title: subject, Progress: Running, Started: time.Now()})
	p.report()
	plan.Image = image
	var after *knative.State
	commit, err := p.commit(ctx, gitops.Change{
		Subject:  subject,
		Trailers: p.trailers(plan, name, plan.To, dest.revision, reason),
		Edit: func(tip gitops.Snapshot) (_ map[string][]byte, err error) {
			if after, err = p.editBack(ctx, dest, tip, mayChange); err != nil {
				return nil, err
			}
			return after.Files()
		},
	})
	if err != nil {
		return nil, err
	}
	if p.result.Traffic, err = after.Traffic(); err != nil {
		return nil, err
	}
	return &Position{
		Step:   Change{Name: name, Percent: 100},
		Commit: commit,
		Intent: p.intent(commit, after.Revision(), after.Images(), p.result.Traffic),
	}, nil
}

// madeOf tells whether a revision was made of an overlay's template. Somebody
// may have changed that: under the revision's name, which Knative has refused,
// or under none, and Argo CD has not looked yet. The name tells the former, and
// only the live revision, which is not asked for otherwise, the latter.
func madeOf(revision string, state *knative.State, live func() (*servingv1.Revision, error)) (bool, error) {
	made, known, err := state.Made(revision)
	if err != nil || known {
		return made, err
	}
	found, err := live()
	if err != nil {
		return true, nil // nothing speaks against it
	}
	return state.Fits(found)
}

// editBack edits a tip to the destination. The template gets the old
// revision's name only if it is the old template; somebody may have changed
// the base since, and Knative would refuse that under the old name.
func (p *Promotion) editBack(ctx context.Context, dest destination, tip gitops.Snapshot, mayChange func(*knative.State) bool) (*knative.State, error) {
	now, err := knative.Read(ctx, tip.Tree, p.Overlay, p.Service)
	if err != nil {
		return nil, err
	}
	next, err := now.RestoreImages(ctx, dest.state)
	if err != nil {
		return nil, err
	}
	revision, traffic := dest.revision, dest.traffic
	same := dest.made && next.SameTemplate(dest.state)
	if !same {
		if revision, err = next.NextRevision(); err != nil {
			return nil, err
		}
		if dest.gone {
			traffic = retarget(traffic, dest.revision, revision)
		}
	}
	after, err := p.routeBack(ctx, next, dest, revision, traffic, same)
	if err != nil {
		return nil, err
	}
	if shows(now, revision, traffic) && now.SameTemplate(after) {
		return now, nil
	}
	if !mayChange(now) {
		return nil, superseded(tip.Commit, "the overlay now has revision %s with %s", orGenerated(now.Revision()), describe(now))
	}
	return after, knative.Check(now, after, knative.Intent{Revision: revision, Traffic: traffic})
}

// routeBack takes the old files where they say just what is wanted, so that
// the overlay is as it was, byte for byte.
func (p *Promotion) routeBack(ctx context.Context, next *knative.State, dest destination, revision string, traffic []servingv1.TrafficTarget, same bool) (*knative.State, error) {
	if same && dest.state.Owned() && shows(dest.state, revision, traffic) {
		return next.RestoreRoute(ctx, dest.state)
	}
	return next.Route(ctx, revision, traffic, p.live)
}

// retarget names another revision in the traffic.
func retarget(traffic []servingv1.TrafficTarget, from, to string) []servingv1.TrafficTarget {
	traffic = slices.Clone(traffic)
	for i := range traffic {
		if traffic[i].RevisionName == from {
			traffic[i].RevisionName = to
		}
	}
	return traffic
}

// confirm waits until what was taken back is live.
func (p *Promotion) confirm(ctx context.Context, at *Position) error {
	if err := p.ask(ctx, Gate{Name: "live", Check: p.isLive}, at); err != nil {
		p.current().Progress = Broken
		return err
	}
	p.leave()
	return nil
}

// exists asks the cluster for a revision. Only a clear no is a no.
func (p *Promotion) exists(ctx context.Context, name string) bool {
	_, err := p.liveRevision(ctx, name)
	return !errors.Is(err, argo.ErrNotFound)
}

// liveRevision asks the cluster for a revision, but not for long.
func (p *Promotion) liveRevision(ctx context.Context, name string) (*servingv1.Revision, error) {
	if p.Cluster == nil {
		return nil, errors.New("without Argo CD nothing is known of it")
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	return p.Cluster.Revision(ctx, p.App, p.namespace(), name)
}

// namespace is where the Service lives, as far as it was seen.
func (p *Promotion) namespace() string {
	if p.live == nil {
		return ""
	}
	return p.live.Namespace
}
