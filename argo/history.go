package argo

import (
	"slices"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// lastIndex is where a revision stands for the first time in the history.
func lastIndex(deployed []string, revision string) int {
	for i, r := range slices.Backward(deployed) {
		if r == revision {
			return i
		}
	}
	return -1
}

// DeployedSince are those of the deployed revisions that came after one was deployed for the
// first time; all of them, where it is not among them.
func DeployedSince(deployed []string, revision string) []string {
	if first := lastIndex(deployed, revision); first >= 0 {
		return deployed[:first]
	}
	return deployed
}

// DeployedAt is since when the Application has been synced to a revision, as far as its history goes: the last time, and as
// long before as it was synced to nothing else.
func DeployedAt(t Target, app *v1alpha1.Application, revision string) (since time.Time) {
	for _, entry := range slices.Backward(app.Status.History) {
		switch is := revisionOf(Intent{Target: t}, app, entry.Revision, entry.Revisions); {
		case is == revision:
			since = entry.DeployedAt.Time
		case is != "" && !since.IsZero():
			return since
		}
	}
	return since
}

// Deployed are the revisions of the target's source that the Application was synced to,
// the last one first, as far as its history goes.
func Deployed(t Target, app *v1alpha1.Application) (all []string) {
	for _, entry := range slices.Backward(app.Status.History) {
		if revision := revisionOf(Intent{Target: t}, app, entry.Revision, entry.Revisions); revision != "" {
			all = append(all, revision)
		}
	}
	return all
}

// Tried is the revision that the Application was to be synced to last, and when that began, whether it has ended well or not;
// empty: nothing was tried that Argo CD remembers.
func Tried(t Target, app *v1alpha1.Application) (revision string, at time.Time) {
	if app.Status.OperationState == nil {
		return "", time.Time{}
	}
	return syncRevision(Intent{Target: t}, app), app.Status.OperationState.StartedAt.Time
}
