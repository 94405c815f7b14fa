package argo

import (
	"context"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// Undone is the revision that somebody has rolled the Application back to in Argo CD,
// after it had deployed the intent's commit or one that carries its values; empty:
// nobody has, as far as the Application's history goes. What restores is never undone:
// it must come to be live.
func Undone(ctx context.Context, in Intent, app *v1alpha1.Application) string {
	if in.Restores || automated(app) || app.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		return "" // Argo CD rolls nothing back that it syncs by itself
	}
	deployed := deployed(in, app)
	if len(deployed) == 0 {
		return ""
	}
	ours := slices.IndexFunc(deployed, func(revision string) bool {
		relation, err := relate(ctx, in, revision)
		return err == nil && relation.ours()
	})
	if ours <= 0 || !slices.Contains(deployed[ours+1:], deployed[0]) {
		return "" // it is deployed, or never was, or what came after it is new
	}
	return deployed[0]
}

// deployed are the revisions of the intent's source that the Application was synced to,
// the last one first.
func deployed(in Intent, app *v1alpha1.Application) (all []string) {
	for _, entry := range slices.Backward(app.Status.History) {
		if revision := revisionOf(in, app, entry.Revision, entry.Revisions); revision != "" {
			all = append(all, revision)
		}
	}
	return all
}
