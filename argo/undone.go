package argo

import (
	"context"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// Undone is the revision that somebody has rolled the Application back to in Argo CD,
// after it had deployed a commit of the intent's promotion; empty: nobody has, as far as
// the Application's history goes. What restores is never undone: it must come to be live.
func Undone(ctx context.Context, in Intent, app *v1alpha1.Application) string {
	if in.Restores || in.Own == nil || automated(app) || app.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		return "" // Argo CD rolls nothing back that it syncs by itself
	}
	deployed := Deployed(in, app)
	own := func(revision string) bool {
		is, err := in.Own(ctx, revision)
		return err == nil && is
	}
	if len(deployed) == 0 {
		return ""
	}
	last := deployed[0]
	first := len(deployed) // where it stands for the first time; it may be older than the history
	if own(last) {
		first = lastIndex(deployed, last)
	}
	later := func(revision string) bool {
		return revision != last && own(revision) && lastIndex(deployed, revision) < first
	}
	if slices.ContainsFunc(deployed, later) {
		return last
	}
	return ""
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
