package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
)

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
	defer p.whenCancelled(ctx, own, func() { time.AfterFunc(announceTime, stop) })()
	if err := p.confirm(own, at); err != nil {
		return err
	}
	p.closeStep(own, at.promotion, stepRestore)
	return nil
}

// whenCancelled calls cut once somebody cancels the run, also one whose time is
// over, until the returned function is called.
func (p *Promotion) whenCancelled(ctx, until context.Context, cut func()) (stop func()) {
	ended := make(chan struct{})
	go func() {
		done := ctx.Done()
		if ctx.Err() != nil && !p.cancelled(ctx) {
			done = nil // its time is over, which is no cancel
		}
		select {
		case <-done:
			if p.cancelled(ctx) {
				cut()
			}
		case <-p.Cancelled:
			cut()
		case <-until.Done():
		case <-ended:
		}
	}()
	return func() { close(ended) }
}

// takeBack commits what was there before the promotion.
func (p *Promotion) takeBack(ctx context.Context, plan Plan, cause error) (*Position, error) {
	dest, err := p.before(ctx, plan)
	if err != nil {
		return nil, err
	}
	return p.goTo(ctx, &goingBack{
		plan: plan, step: stepRestore, dest: dest, reason: cause.Error(),
		mayChange: func(now *knative.State, record Record) bool { return plan.showsStep(now, record) },
	})
}

// showsStep tells whether an overlay shows a step of the plan, by the record,
// unless somebody has broken that, and by the fields.
func (p Plan) showsStep(now *knative.State, record Record) bool {
	return slices.ContainsFunc(p.Steps, func(c Change) bool {
		want := p.expected(c)
		if !record.exists() {
			want.promotion = ""
		}
		return want.shownBy(now, record)
	})
}

// before is the destination of a promotion that is taken back: the old revision
// by name, with the overlay of the base commit where that can be read.
func (p *Promotion) before(ctx context.Context, plan Plan) (destination, error) {
	dest := destination{Version: plan.from, live: p.liveOnce(ctx, plan.from.Revision)}
	dest.state = p.baseOf(ctx, plan.Base, plan.from)
	if dest.state != nil && dest.state.Owned() {
		traffic, err := dest.state.Traffic()
		dest.traffic = p.withoutGone(ctx, traffic)
		return dest, err
	}
	split, err := p.splitOf(orState(dest.state, plan.now))
	if err != nil {
		return dest, err
	}
	split.Stable, split.Candidate = dest.Revision, ""
	dest.traffic = p.withoutGone(ctx, split.Targets(p.CandidateTag, p.KeepPrevious))
	return dest, nil
}

// baseOf is the overlay of the commit that a promotion began on. It gives the
// bytes from before; nil, where it cannot be read or shows something else, the
// record must do. The template there is not the revision's where the traffic alone
// had gone back, or where somebody had taken back one file of two.
func (p *Promotion) baseOf(ctx context.Context, commit string, to Version) *knative.State {
	state, err := p.stateAt(ctx, commit)
	if err == nil {
		var split knative.Split
		split, err = p.splitOf(state)
		switch {
		case err != nil:
		case split.Candidate != "" || split.Stable != "" && split.Stable != to.Revision:
			err = fmt.Errorf("it does not give the traffic to %s", to.Revision)
		case !to.sameImages(state):
			err = fmt.Errorf("it does not have the images of %s", to.Revision)
		}
	}
	if err != nil {
		p.say("going back by the record alone: the overlay of commit %.10s is of no use: %v", commit, err)
		return nil
	}
	return state
}

func orState(state, other *knative.State) *knative.State {
	if state == nil {
		return other
	}
	return state
}

// stateAt is the overlay of a commit.
func (p *Promotion) stateAt(ctx context.Context, commit string) (*knative.State, error) {
	then, err := p.Commits.At(ctx, commit)
	if err != nil {
		return nil, err
	}
	state, err := knative.Read(ctx, then.Tree, p.Overlay, p.Service)
	if err != nil {
		return nil, fmt.Errorf("at commit %.10s: %w", commit, err)
	}
	return state, nil
}

// splitOf is an overlay's traffic, taken apart.
func (p *Promotion) splitOf(state *knative.State) (knative.Split, error) {
	return Situation{Now: state}.split(p.Config)
}

// withoutGone drops the target `previous` when its revision is not there any
// more: naming it would hold up all of the Service's traffic.
func (p *Promotion) withoutGone(ctx context.Context, traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	return slices.DeleteFunc(slices.Clone(traffic), func(t servingv1.TrafficTarget) bool {
		return t.Tag == knative.PreviousTag && knative.Percent(t) == 0 && !p.exists(ctx, t.RevisionName)
	})
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
