package argo

import (
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

const (
	refreshPause  = 2 * time.Second // between two refreshes
	outdatedAfter = 5 * time.Second // Argo CD's live objects may be older than its comparison for so long
)

// refresh is what Argo CD is to do before the next look. Manifests that it has in its cache for a
// commit stay there until somebody asks for a hard refresh, which is once for each commit.
func (w *waiter) refresh() v1alpha1.RefreshType {
	switch {
	case w.outdated != "" && w.rendered != w.outdated && time.Since(w.lastSince) >= outdatedAfter:
		w.rendered, w.refreshed = w.outdated, time.Now()
		return v1alpha1.RefreshTypeHard
	case w.refreshed.IsZero(), w.stale && time.Since(w.refreshed) >= refreshPause:
		w.refreshed = time.Now()
		return v1alpha1.RefreshTypeNormal
	}
	return noRefresh
}

// outdated is the revision that Argo CD calls the live Service Synced at, although that is another
// one than the intent's: it may have rendered an older commit. Empty: that is not so.
func outdated(in Intent, ob Observed, v Verdict) string {
	ours := serviceStatus(in, ob.App)
	if v.Trouble != "drift" || ours == nil || ours.Status != v1alpha1.SyncStatusCodeSynced {
		return ""
	}
	return compared(in, ob)
}

// reconciledEarly tells whether the comparison is older than the last sync's end.
func reconciledEarly(app *v1alpha1.Application) bool {
	state := app.Status.OperationState
	return state != nil && state.FinishedAt != nil && state.Phase.Completed() &&
		(app.Status.ReconciledAt == nil || app.Status.ReconciledAt.Before(state.FinishedAt))
}
