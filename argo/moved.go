package argo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Moved is why the intent must not be synced: past Git, somebody has moved the Service to
// what they want users to have. They have rolled it back in Argo CD, or given the traffic
// to others than it was left with. Empty: nobody has, as far as the Application's history
// and the intent tell, or Argo CD syncs by itself. The error is that the intent cannot tell
// now.
func Moved(ctx context.Context, in Intent, app *v1alpha1.Application, live *servingv1.Service) (string, error) {
	if !mayBeMoved(app) {
		return "", nil
	}
	to, err := rolledBackTo(ctx, in, app)
	if err != nil {
		return "", fmt.Errorf("asking what Argo CD has deployed: %w", err)
	}
	others := Others(ctx, in, app)
	switch {
	case to != "":
		return fmt.Sprintf("somebody has rolled application %s back to %s in Argo CD", in.App, short(to)), nil
	case others != "" && !in.Restores:
		return others, nil
	case live == nil:
		return "", nil
	}
	if others := in.others(live); len(others) > 0 {
		return fmt.Sprintf("somebody has given the traffic of Service %s to %s", in.Service, strings.Join(others, " and ")), nil
	}
	deployed, err := passedOver(ctx, in, app, live)
	if err != nil {
		return "", fmt.Errorf("asking what Argo CD has deployed: %w", err)
	}
	if deployed != "" {
		return fmt.Sprintf("somebody has moved the traffic of Service %s past Git: it is %s, and commit %s, which Argo CD deployed last, says otherwise",
			in.Service, describeRouting(had(live)), short(deployed)), nil
	}
	return "", nil
}

// mayBeMoved tells whether the Application is out of sync and stays so, unless it is asked
// to sync.
func mayBeMoved(app *v1alpha1.Application) bool {
	operation := app.Status.OperationState
	return !automated(app) && app.Status.Sync.Status == v1alpha1.SyncStatusCodeOutOfSync &&
		app.Operation == nil && (operation == nil || operation.Phase.Completed())
}

// rolledBackTo is the revision that somebody has rolled the Application back to in Argo CD,
// after it had deployed a commit of the intent's promotion that routes the Service otherwise;
// empty: nobody has. What restores is never rolled back: it must come to be live.
func rolledBackTo(ctx context.Context, in Intent, app *v1alpha1.Application) (string, error) {
	deployed := Deployed(in, app)
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

// Others is why a sync of the whole Application would undo what somebody has rolled back there
// beside the Service, of which it says nothing; empty: nobody has.
func Others(ctx context.Context, in Intent, app *v1alpha1.Application) string {
	names := brings(ctx, in, app)
	if !mayBeMoved(app) || len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("somebody has rolled %s back in Argo CD, and a sync of application %s would undo that: have Git say so first, or sync what Git says",
		strings.Join(names, " and "), in.App)
}

// brings names what [Intent.Brings] says of the commits that Argo CD has deployed between
// the one that it has deployed again and the first time that it did.
func brings(ctx context.Context, in Intent, app *v1alpha1.Application) []string {
	deployed := Deployed(in, app)
	if in.Brings == nil || len(deployed) == 0 {
		return nil
	}
	to := deployed[0]
	for _, from := range deployed[:lastIndex(deployed, to)] {
		if from == to {
			continue
		}
		if others := in.Brings(ctx, from, to); len(others) > 0 {
			return others
		}
	}
	return nil
}

// sameGiven tells whether two commits route the Service alike, as far as that can be read:
// who goes from one to the other has rolled something else back.
func sameGiven(ctx context.Context, in Intent, revision, other string) (bool, error) {
	if in.Gives == nil {
		return false, nil
	}
	a, err := in.Gives(ctx, revision)
	if err != nil {
		return false, unlessMissing(err)
	}
	b, err := in.Gives(ctx, other)
	if err != nil {
		return false, unlessMissing(err)
	}
	return sameRouting(a, b), nil
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
	deployed := Deployed(in, app)
	is := func(traffic []servingv1.TrafficTarget) bool { // what users have, or will where it was asked for
		return maps.Equal(shares(traffic), shares(had(live))) || maps.Equal(shares(traffic), shares(live.Spec.Traffic))
	}
	if in.Restores || in.Gives == nil || len(deployed) == 0 || is(in.Traffic) {
		return "", nil
	}
	for _, revision := range []string{deployed[0], syncRevision(in, app)} {
		if revision == "" {
			continue // nothing was tried since Argo CD was restarted
		}
		gives, err := in.Gives(ctx, revision)
		if err != nil {
			return "", unlessMissing(err)
		}
		if _, latest := shares(gives)[""]; latest || is(gives) {
			return "", nil // the latest revision's traffic is nobody's in particular
		}
	}
	return deployed[0], nil
}

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

// lastIndex is where a revision stands for the first time in the history.
func lastIndex(deployed []string, revision string) int {
	for i, r := range slices.Backward(deployed) {
		if r == revision {
			return i
		}
	}
	return -1
}

// Deployed are the revisions of the intent's source that the Application was synced to,
// the last one first, as far as its history goes.
func Deployed(in Intent, app *v1alpha1.Application) (all []string) {
	for _, entry := range slices.Backward(app.Status.History) {
		if revision := revisionOf(in, app, entry.Revision, entry.Revisions); revision != "" {
			all = append(all, revision)
		}
	}
	return all
}
