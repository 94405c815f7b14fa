// Package moved tells whether somebody has moved the Service past Git, as by a rollback in
// Argo CD or with kubectl: nothing is then promoted over that, and nothing rolled back to
// where they did not go.
package moved

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// An Error says where somebody has moved the Service to: the next commit would undo that.
type Error struct{ Reason string }

// Error is the reason.
func (e *Error) Error() string { return e.Reason }

// Is tells whether an error is one.
func Is(err error) bool {
	_, is := errors.AsType[*Error](err)
	return is
}

// An OthersError is why nothing further is committed: a sync would undo what somebody has rolled back in
// Argo CD beside the Service, or somebody has switched off that Argo CD syncs. It speaks against no revision.
type OthersError struct{ Reason string }

// Error is the reason.
func (e *OthersError) Error() string { return e.Reason }

// IsOthers tells whether an error is one.
func IsOthers(err error) bool {
	_, is := errors.AsType[*OthersError](err)
	return is
}

// A Reader compares the live Service of a target with its overlay.
type Reader struct {
	Overlay overlay.Reader
	Service live.Service
}

// Since is an [*OthersError], or an [*Error] where the cluster is not as a commit says any more, and will not
// come to be so by itself; over are the revisions that users may be moved from. Where Argo
// CD does not answer, it is asked for as long as patience: what cannot be seen may be
// anything, which is an error too.
func (r Reader) Since(ctx context.Context, at gitops.Snapshot, over []string, patience time.Duration) error {
	seen, err := r.see(ctx, patience)
	if err != nil {
		return fmt.Errorf("asking who has the traffic: %w", err)
	}
	if seen.Service == nil {
		return nil
	}
	state, err := r.Overlay.Read(ctx, at)
	if err != nil {
		return ctx.Err() // the commit is made on what renders
	}
	intent := r.Overlay.Intent(at.Commit.Hash, plan.ShownAt(state))
	intent.Over = over
	switch move, err := argo.Moved(ctx, intent, seen.App, seen.Service); {
	case err != nil:
		return err
	case move.Service != "":
		return &Error{move.Service}
	case len(move.Beside) > 0:
		return &OthersError{move.Why(intent.App)}
	}
	if why := r.beside(ctx, seen.App, seen.Service.Name); why != "" {
		return &OthersError{why}
	}
	if has := r.drift(ctx, at.Commit.Hash, state, seen.Service, seen.App); len(has) > 0 {
		traffic, _ := state.Traffic() // it was read for the drift
		return &Error{fmt.Sprintf("somebody has moved the traffic past Git: the cluster gives it to %s, and Git to %s", described(has), knative.Describe(traffic))}
	}
	return nil
}

// Automated is an [*OthersError] where Argo CD was to sync the Application by itself and is not any more: whoever has switched that off
// wants nothing to come to the cluster. Where Argo CD does not answer, it is asked for as long as patience.
func (r Reader) Automated(ctx context.Context, was bool, patience time.Duration) error {
	if !was {
		return nil
	}
	seen, err := r.see(ctx, patience)
	if err != nil {
		return fmt.Errorf("asking whether Argo CD still syncs: %w", err)
	}
	app := r.Overlay.Target.App
	if off := app.SwitchedOff(was, seen.App); off != "" {
		return &OthersError{fmt.Sprintf("%s: to go on, switch it on again or sync %s by hand, and start the run again", off, app)}
	}
	return nil
}

// askAgain is how long after Argo CD has not answered it is asked again.
const askAgain = 2 * time.Second

// see is what Argo CD tells of the Service, for as long as patience where it does not answer.
func (r Reader) see(ctx context.Context, patience time.Duration) (argo.Observed, error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	for {
		seen, err := r.Service.Observe(ctx, 0)
		if !errors.Is(err, argo.ErrUnreachable) || sleep.For(ctx, askAgain) != nil {
			return seen, err
		}
	}
}

// Elsewhere is an [*Error] where somebody has given the traffic to another revision than
// those in over, as far as the situation tells: that is where they want it, and what leads
// to another one must not be committed. The commit is the last one that was made.
func (r Reader) Elsewhere(ctx context.Context, at plan.Situation, commit string, over []string, leads string) error {
	shown := at.Now
	if state, err := r.Overlay.At(ctx, commit); err == nil {
		shown = state
	}
	has := r.drift(ctx, commit, shown, at.Live, at.App)
	for name := range has {
		if !slices.Contains(over, name) {
			return &Error{fmt.Sprintf("somebody has given the traffic to others: %s: %s", described(has), strings.Join(r.choices(ctx, at, has, leads), "; "))}
		}
	}
	return nil
}

// Unnamed is bad input where a rollback without a name for where to leads to what neither
// has the traffic in the cluster, nor in Git: what comes before in Git may be what somebody
// has rolled back from past it. Found says that it leads to what has all traffic already.
func (r Reader) Unnamed(ctx context.Context, at plan.Situation, git knative.Split, leads string) (found string, err error) {
	has := r.drift(ctx, at.Tip.Hash, at.Now, at.Live, at.App)
	if has[leads] == 100 {
		found = fmt.Sprintf("%s has all traffic in the cluster already, and Git said %s", leads, knative.OrLatest(git.Stable))
	}
	others := maps.Clone(has)
	maps.DeleteFunc(others, func(name string, _ int) bool { return name == leads || slices.Contains(at.Holders(), name) })
	if len(others) == 0 {
		return found, nil
	}
	return found, setting.Bad("the cluster gives the traffic of Service %s to others than Git: %s; Git says %s. Somebody has moved it past Git, so it is for a person to say where to roll back to: %s",
		at.Service, described(has), knative.OrLatest(git.Stable), strings.Join(r.choices(ctx, at, has, leads), "; "))
}

// drift is who has which share of the traffic, where that is others than a commit's overlay
// says and Argo CD will not change it by itself; see [check.Drift].
func (r Reader) drift(ctx context.Context, commit string, shows *knative.State, live *servingv1.Service, app *v1alpha1.Application) map[string]int {
	return check.Drift(check.Facts{
		Commit: commit, Overlay: shows, Service: live, Setup: argo.Setup{App: app},
		Given: func() map[string]int { return r.Overlay.Given(ctx, app) },
	})
}

// choices are the commands that say where to. What is lost cannot be rolled back to.
func (r Reader) choices(ctx context.Context, at plan.Situation, has map[string]int, leads string) (all []string) {
	for _, holder := range check.Fit(at.Record, r.Overlay.Deployed(ctx, at.App), has) {
		_, ready := r.Service.Readiness(ctx, at.Live, holder)
		switch {
		case ready.Lost():
		case has[holder] == 100:
			all = append(all, fmt.Sprintf("to leave it where it is and have Git say so, knative-promote rollback --to %s", holder))
		default:
			all = append(all, fmt.Sprintf("to give all of it to %s, knative-promote rollback --to %s", holder, holder))
		}
	}
	all = append(all, fmt.Sprintf("to have what Git says, argocd app sync %s", at.Target.App))
	if leads != "" {
		all = append(all, fmt.Sprintf("for what had it before in Git, knative-promote rollback --to %s", leads))
	}
	return all
}

// described are shares in words.
func described(shares map[string]int) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		words = append(words, fmt.Sprintf("%d %% %s", shares[name], name))
	}
	return strings.Join(words, ", ")
}
