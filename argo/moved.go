package argo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/oneline"
)

// A Move is what somebody has made of an Application past Git since Argo CD deployed last,
// and what a sync would undo. The zero Move is nothing.
type Move struct {
	// Service is why the Service must not be synced: they have moved it to what they want
	// users to have. Empty: they have not.
	Service string
	// Beside are other objects that they have rolled back and that a sync of the whole
	// Application would bring back, as Kind/name.
	Beside []string
}

// Why is why a promotion must not have the Application synced; empty: it may.
func (m Move) Why(app App) string {
	if m.Service != "" || len(m.Beside) == 0 {
		return m.Service
	}
	return fmt.Sprintf("somebody has rolled %s back in Argo CD, and a sync of application %s would undo that: have Git say so first, or sync what Git says",
		m.names(), app)
}

// names are the other objects in a sentence.
func (m Move) names() string { return oneline.Brief(strings.Join(m.Beside, " and ")) }

// Moved finds out whether somebody has moved the Service, by a rollback in Argo CD or by
// giving the traffic to others than it was left with, or has rolled other objects back, as
// far as the Application's history and the intent tell. Where Argo CD syncs by itself,
// nobody rolls back in Argo CD, and where it heals too, nobody has moved anything. The error is
// that the intent cannot tell now.
func Moved(ctx context.Context, in Intent, app *v1alpha1.Application, live *servingv1.Service) (Move, error) {
	if !StaysOutOfSync(app) {
		return Move{}, nil
	}
	if off := in.App.SwitchedOff(in.Automated, app); off != "" && !in.Restores {
		return Move{Service: off}, nil
	}
	brought, err := broughtBack(ctx, in, app)
	if err != nil {
		return Move{}, fmt.Errorf("asking what Argo CD has deployed: %w", err)
	}
	service, err := movedService(ctx, in, app, live, brought.Service)
	if err != nil {
		return Move{}, fmt.Errorf("asking what Argo CD has deployed: %w", err)
	}
	return Move{service, brought.Beside}, nil
}

// movedService is [Move.Service]. Brought is whether a sync brings back what somebody has
// rolled the Service back from, which also tells where no commit names a revision.
func movedService(ctx context.Context, in Intent, app *v1alpha1.Application, live *servingv1.Service, brought bool) (string, error) {
	if Automated(app) {
		return pastGit(ctx, in, app, live)
	}
	to, err := rolledBackTo(ctx, in, app)
	if err == nil && to == "" && brought && !in.Restores && in.Own != nil {
		to = Deployed(in.Target, app)[0]
	}
	if err == nil && to != "" && live != nil && syncRevision(in, app) != to {
		traffic, known, err := givenBy(ctx, in, syncRevision(in, app))
		if err != nil || known && SameShares(traffic, had(live)) {
			return "", err // it was synced to that since, which has failed at something else
		}
	}
	switch {
	case err != nil:
		return "", err
	case to != "":
		return fmt.Sprintf("somebody has rolled application %s back to %s in Argo CD", in.App, short(to)), nil
	case live == nil:
		return "", nil
	}
	if others := in.others(live); len(others) > 0 {
		return fmt.Sprintf("somebody has given the traffic of Service %s to %s", in.Service, strings.Join(others, " and ")), nil
	}
	return pastGit(ctx, in, app, live)
}

// pastGit says that somebody has moved the traffic to where no commit says; empty: nobody has.
func pastGit(ctx context.Context, in Intent, app *v1alpha1.Application, live *servingv1.Service) (string, error) {
	if live == nil {
		return "", nil
	}
	deployed, err := passedOver(ctx, in, app, live)
	if err != nil || deployed == "" {
		return "", err
	}
	return fmt.Sprintf("somebody has moved the traffic of Service %s past Git: it is %s, and commit %s, which Argo CD deployed last, says otherwise",
		in.Service, oneline.Brief(describeRouting(had(live))), short(deployed)), nil
}

// StaysOutOfSync tells whether the Application is out of sync and stays so, unless it is asked
// to sync, or Argo CD comes to a commit that it has not synced: it heals nothing of what others
// have made of the last one.
func StaysOutOfSync(app *v1alpha1.Application) bool {
	operation := app.Status.OperationState
	return !Heals(app) && app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync &&
		app.Operation == nil && (operation == nil || operation.Phase.Completed())
}

// OutOfSyncBeside are the Application's other Services that are not as Git has them: of a change that nobody has synced yet, or by what
// somebody has made of them in the cluster.
func OutOfSyncBeside(app *v1alpha1.Application, service string) (names []string) {
	for _, r := range app.Status.Resources {
		if IsKnativeService(r.Group, r.Kind) && r.Name != service && r.Status == v1alpha1.SyncStatusCodeOutOfSync {
			names = append(names, r.Name)
		}
	}
	return names
}

// rolledBackTo is the revision that somebody has rolled the Application back to in Argo CD,
// after it had deployed a commit of the intent's promotion that routes the Service otherwise;
// empty: nobody has. What restores is never rolled back: it must come to be live.
func rolledBackTo(ctx context.Context, in Intent, app *v1alpha1.Application) (string, error) {
	deployed := Deployed(in.Target, app)
	if in.Restores || in.Own == nil || len(deployed) == 0 {
		return "", nil
	}
	last := deployed[0]
	first := len(deployed) // where it stands for the first time; it may be older than the history
	own, err := in.Own(ctx, last)
	if err != nil {
		return "", err
	}
	if own {
		first = lastIndex(deployed, last)
	}
	for _, revision := range deployed {
		if revision == last || lastIndex(deployed, revision) >= first {
			continue
		}
		own, err := in.Own(ctx, revision)
		if err != nil {
			return "", err
		}
		if !own {
			continue
		}
		if same, err := sameGiven(ctx, in, revision, last); err != nil || !same {
			return last, err
		}
	}
	return "", nil
}

// broughtBack is what [Intent.Brings] says of the commits that Argo CD has deployed between
// the one that it has deployed again and the first time that it did.
func broughtBack(ctx context.Context, in Intent, app *v1alpha1.Application) (all Brought, err error) {
	deployed := Deployed(in.Target, app)
	if in.Brings == nil || len(deployed) == 0 || Automated(app) {
		return Brought{}, nil
	}
	to := deployed[0]
	for _, from := range DeployedSince(deployed, to) {
		if from == to {
			continue
		}
		one, err := in.Brings(ctx, from, to)
		if unlessMissing(err) != nil {
			return Brought{}, err
		}
		all.Service = all.Service || one.Service
		if len(all.Beside) == 0 {
			all.Beside = one.Beside
		}
	}
	return all, nil
}

// sameGiven tells whether two commits route the Service alike, as far as that can be read:
// who goes from one to the other has rolled something else back.
func sameGiven(ctx context.Context, in Intent, revision, other string) (bool, error) {
	a, known, err := givenBy(ctx, in, revision)
	if err != nil || !known {
		return false, err
	}
	b, known, err := givenBy(ctx, in, other)
	return known && sameRouting(a, b), err
}

// givenBy is the traffic that a commit says; known is whether it can be read.
func givenBy(ctx context.Context, in Intent, revision string) (traffic []servingv1.TrafficTarget, known bool, err error) {
	if in.Gives == nil || revision == "" {
		return nil, false, nil
	}
	traffic, err = in.Gives(ctx, revision)
	return traffic, err == nil, unlessMissing(err)
}

// others are the revisions with a share that the intent does not move users from. Users have
// them because somebody has asked for others, and not because Knative has not come further.
func (in Intent) others(live *servingv1.Service) []string {
	beyond := func(traffic []servingv1.TrafficTarget) []string {
		return slices.DeleteFunc(slices.Sorted(maps.Keys(shares(traffic))), func(name string) bool {
			return name == "" || slices.Contains(in.Over, name)
		})
	}
	if len(in.Over) == 0 || len(beyond(live.Spec.Traffic)) == 0 {
		return nil
	}
	return beyond(had(live))
}

// had is the traffic that users have, also where Knative cannot route what is asked for.
func had(live *servingv1.Service) []servingv1.TrafficTarget {
	if live.Status.ObservedGeneration == live.Generation && len(live.Status.Traffic) > 0 {
		return live.Status.Traffic
	}
	return live.Spec.Traffic // which Knative has not come to yet
}

// passedOver is the commit that Argo CD has deployed last, where the traffic is neither as
// that says, nor as the last attempt to sync or the intent does. Empty: it is, or that cannot
// be told.
func passedOver(ctx context.Context, in Intent, app *v1alpha1.Application, live *servingv1.Service) (string, error) {
	deployed := Deployed(in.Target, app)
	is := func(traffic []servingv1.TrafficTarget) bool { // what users have, or will where it was asked for
		return SameShares(traffic, had(live)) || SameShares(traffic, live.Spec.Traffic)
	}
	if in.Restores || in.Gives == nil || len(deployed) == 0 || is(in.Traffic) {
		return "", nil
	}
	for _, revision := range []string{deployed[0], syncRevision(in, app)} {
		if revision == "" {
			continue // nothing was tried since Argo CD was restarted
		}
		gives, known, err := givenBy(ctx, in, revision)
		if err != nil || !known {
			return "", err
		}
		if _, latest := shares(gives)[""]; latest || is(gives) {
			return "", nil // the latest revision's traffic is nobody's in particular
		}
	}
	return deployed[0], nil
}

// SameShares tells whether two traffics give the same revisions the same shares, with Knative's default where one says nothing.
func SameShares(a, b []servingv1.TrafficTarget) bool { return maps.Equal(shares(a), shares(b)) }

// shares are those of revisions in percent, by their names; empty is the latest one's.
func shares(traffic []servingv1.TrafficTarget) map[string]int64 {
	all := map[string]int64{}
	for _, t := range withDefault(traffic) {
		if t.Percent != nil && *t.Percent > 0 {
			all[t.RevisionName] += *t.Percent
		}
	}
	return all
}
