package overlay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Intent is what a commit must make true in the cluster.
func (r Reader) Intent(commit string, want plan.Expected) argo.Intent {
	return argo.Intent{
		Target: r.Target.Target, Commit: commit,
		Revision: want.Revision, Images: want.Images, InitImages: want.InitImages, Traffic: want.Traffic, TrafficOnly: want.TrafficOnly,
		Carries: r.carries(want), Own: r.OfPromotion(want.Promotion), Gives: r.givesOnce(), Brings: r.brings(commit),
	}
}

// carries tells whether a commit that Argo CD compared still shows what ours
// does. One that does not is older (argo.ErrBehind) as long as the branch's tip
// shows it; else somebody has changed it. No commit stands for one that Argo CD could
// not compare: the tip alone tells.
func (r Reader) carries(want plan.Expected) func(context.Context, string) (bool, error) {
	known := map[string]bool{} // what a commit shows does not change
	shown := func(ctx context.Context, at gitops.Snapshot) (bool, error) {
		if ours, there := known[at.Commit.Hash]; there {
			return ours, nil
		}
		ours, err := r.shows(ctx, at, want)
		if err == nil {
			known[at.Commit.Hash] = ours
		}
		return ours, err
	}
	var asked time.Time
	var tipShows bool
	return func(ctx context.Context, other string) (bool, error) {
		if other != "" {
			snapshot, err := r.Commits.At(ctx, other)
			if err != nil && !errors.Is(err, remote.ErrNotFound) {
				return false, err
			}
			if err == nil {
				if ours, err := shown(ctx, snapshot); ours || err != nil {
					return ours, err
				}
			}
		}
		if time.Since(asked) > TipPause {
			tip, err := r.Branch.Tip(ctx)
			if err != nil {
				return false, err
			}
			if tipShows, err = shown(ctx, tip); err != nil {
				return false, err
			}
			asked = time.Now()
		}
		if tipShows {
			return false, argo.ErrBehind
		}
		return false, nil
	}
}

// deployed is the overlay of a commit that Argo CD has deployed. It is argo.ErrNotFound
// where the commit is gone, or its overlay cannot be read.
func (r Reader) deployed(ctx context.Context, commit string) (*knative.State, error) {
	then, err := r.Commits.At(ctx, commit)
	if errors.Is(err, remote.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", argo.ErrNotFound, err)
	}
	if err != nil {
		return nil, err
	}
	state, err := r.Read(ctx, then)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w: at commit %.10s: %w", argo.ErrNotFound, commit, err)
	}
	return state, err
}

// gives is the traffic that a commit says which Argo CD has deployed or compared.
func (r Reader) gives(ctx context.Context, commit string) ([]servingv1.TrafficTarget, error) {
	state, err := r.deployed(ctx, commit)
	if err != nil {
		return nil, err
	}
	traffic, err := state.Traffic()
	if err != nil {
		err = fmt.Errorf("%w: at commit %.10s: %w", argo.ErrNotFound, commit, err)
	}
	return traffic, err
}

// givesOnce is the same, each commit read but once: what it says does not change.
func (r Reader) givesOnce() func(context.Context, string) ([]servingv1.TrafficTarget, error) {
	known := map[string][]servingv1.TrafficTarget{}
	return func(ctx context.Context, commit string) (traffic []servingv1.TrafficTarget, err error) {
		if traffic, there := known[commit]; there {
			return traffic, nil
		}
		if traffic, err = r.gives(ctx, commit); err == nil {
			known[commit] = traffic
		}
		return traffic, err
	}
}

// brings is what is in from as in a commit, and otherwise in to. A promotion that is under way
// brings back what it has begun from, too: all users who have not the new revision yet have that.
func (r Reader) brings(commit string) func(ctx context.Context, from, to string) (argo.Brought, error) {
	known := map[string]argo.Brought{}
	return func(ctx context.Context, from, to string) (argo.Brought, error) {
		if brought, asked := known[from+to]; asked {
			return brought, nil
		}
		var states []*knative.State
		for _, one := range []string{commit, from, to} {
			state, err := r.deployed(ctx, one)
			if err != nil {
				return argo.Brought{}, err
			}
			states = append(states, state)
		}
		now, before, again := states[0], states[1], states[2]
		known[from+to] = argo.Brought{
			Service: serviceBroughtBack(now, before, again) || r.beginsFrom(ctx, now, before, again),
			Beside:  knative.BroughtBack(now, before, again),
		}
		return known[from+to], nil
	}
}

// serviceBroughtBack tells whether an overlay has the template of an earlier one, or the images
// that this has brought, and somebody has returned to one that has them not.
func serviceBroughtBack(now, from, to *knative.State) bool {
	was := record.VersionOf("", from)
	return now.SameTemplate(from) && !from.SameTemplate(to) || !was.SameImages(to) && was.BroughtTo(now, record.VersionOf("", to))
}

// beginsFrom tells whether the promotion that is under way in now has begun from what somebody
// has rolled back, and to what does not give it the traffic either, as far as that can be read.
func (r Reader) beginsFrom(ctx context.Context, now, from, to *knative.State) bool {
	has, err := record.Parse(now.Record())
	if err != nil || has.HasPassed() || has.Base == "" {
		return false
	}
	if traffic, err := to.Traffic(); err != nil || knative.Shares(traffic)[has.From.Revision] > 0 {
		return false
	}
	base, err := r.deployed(ctx, has.Base)
	return err == nil && serviceBroughtBack(base, from, to)
}

// Deployed is the record of the commit that Argo CD has deployed last; the zero Record where
// that cannot be read.
func (r Reader) Deployed(ctx context.Context, app *v1alpha1.Application) record.Record {
	if app == nil || r.Commits == nil {
		return record.Record{}
	}
	deployed := argo.Deployed(r.Target.Target, app)
	if len(deployed) == 0 {
		return record.Record{}
	}
	then, err := r.Commits.At(ctx, deployed[0])
	if err != nil {
		return record.Record{}
	}
	return plan.RecordAt(then, r.Target)
}

// Given are the shares that the commit gives which Argo CD has deployed last; nil where that
// cannot be read.
func (r Reader) Given(ctx context.Context, app *v1alpha1.Application) map[string]int {
	if app == nil || r.Commits == nil {
		return nil
	}
	deployed := argo.Deployed(r.Target.Target, app)
	if len(deployed) == 0 {
		return nil
	}
	traffic, err := r.gives(ctx, deployed[0])
	if err != nil {
		return nil
	}
	return knative.Shares(traffic)
}

// MayLag tells whether what the cluster shows may be the step before a commit, which is
// only not synced yet. It may not where somebody has moved the Service since, or where that
// cannot be told, as a rewritten branch has lost the commit that Argo CD deployed last.
func (r Reader) MayLag(ctx context.Context, commit string, at plan.Situation) bool {
	in := r.Intent(commit, plan.ShownAt(at.Now))
	in.Over = at.Holders()
	if deployed := argo.Deployed(in.Target, at.App); len(deployed) > 0 {
		if _, err := r.Commits.At(ctx, deployed[0]); errors.Is(err, remote.ErrNotFound) {
			return false
		}
	}
	moved, err := argo.Moved(ctx, in, at.App, at.Live)
	return moved.Why(in.App) == "" && err == nil
}

// RolledBack says that somebody has rolled the Service back in Argo CD from what the tip says,
// also where that names no revision; empty: nobody has, or it cannot be told.
func (r Reader) RolledBack(ctx context.Context, at plan.Situation) string {
	if at.App == nil || at.Live == nil {
		return ""
	}
	move, _ := argo.Moved(ctx, r.Intent(at.Tip.Hash, plan.ShownAt(at.Now)), at.App, at.Live)
	return move.Service
}

// OfPromotion tells whether a commit is one of a promotion, by its record.
func (r Reader) OfPromotion(promotion string) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, other string) (bool, error) {
		snapshot, err := r.Commits.At(ctx, other)
		if errors.Is(err, remote.ErrNotFound) {
			return false, nil // it was taken out of the history
		}
		if err != nil {
			return false, err
		}
		text, err := knative.ReadRecord(snapshot.Tree, r.Overlay, r.Service)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		record, err := record.Parse(text)
		return err == nil && promotion != "" && record.Promotion == promotion, nil
	}
}

// TipPause is the least time between two looks at the branch's tip while Argo CD
// is at an older commit.
const TipPause = 2 * time.Second
