package check

import (
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
)

// A syncing is what Argo CD has done about the commit that was looked at.
type syncing struct {
	app     *v1alpha1.Application // nil: not known, and nothing was done
	commit  string
	service string
}

// sync is what the Application tells of it.
func (f Facts) sync() syncing {
	s := syncing{app: f.Setup.App, commit: f.Commit}
	if f.Overlay != nil {
		s.service = f.Overlay.Service()
	}
	return s
}

// at tells whether Argo CD means the commit: revision is that of an Application's
// one source, revisions are those of several.
func (s syncing) at(revision string, revisions []string) bool {
	return revision == s.commit || slices.Contains(revisions, s.commit)
}

// compared tells whether Argo CD has rendered the commit and compared it with the
// cluster.
func (s syncing) compared() bool {
	if s.app == nil || s.commit == "" {
		return false
	}
	sync := s.app.Status.Sync
	return sync.Status != v1alpha1.SyncStatusCodeUnknown && s.at(sync.Revision, sync.Revisions)
}

// status is what Argo CD says of the Service at the commit; empty when it has not
// compared that one.
func (s syncing) status() v1alpha1.SyncStatusCode {
	if !s.compared() {
		return ""
	}
	for _, r := range s.app.Status.Resources {
		if argo.IsKnativeService(r.Group, r.Kind) && r.Name == s.service {
			return r.Status
		}
	}
	return ""
}

// tried tells whether the last operation has synced this very commit, or has
// failed to, with the sync options that the Application has now.
func (s syncing) tried() bool {
	if !s.compared() {
		return false
	}
	operation := s.app.Status.OperationState
	if operation == nil || operation.SyncResult == nil || !operation.Phase.Completed() && !isRefused(operation) {
		return false
	}
	if sync := operation.Operation.Sync; sync != nil && !slices.Equal(sync.SyncOptions, optionsOf(s.app)) {
		return false // a retry keeps the options that it began with
	}
	return s.at(operation.SyncResult.Revision, operation.SyncResult.Revisions)
}

// comparedSince tells whether Argo CD has compared the Application after its
// last operation has ended. The times are in whole seconds.
func (s syncing) comparedSince() bool {
	status := s.app.Status
	return status.ReconciledAt != nil &&
		(status.OperationState == nil || status.OperationState.FinishedAt == nil || status.ReconciledAt.After(status.OperationState.FinishedAt.Time))
}

// deployed tells whether this very commit is the newest that Argo CD has synced with
// success, whatever it does now.
func (s syncing) deployed() bool {
	history := s.app.Status.History
	if len(history) == 0 {
		return false
	}
	last := history.LastRevisionHistory()
	return s.at(last.Revision, last.Revisions)
}

// about tells whether Argo CD will bring the cluster to what Git says by itself: by a
// sync that has just begun, or by the next one. It heals nothing of a commit whose sync
// has failed, and an attempt that is refused brings nothing, however often it is made
// again (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go#L2103-L2128).
// Without self-heal a commit that it has not synced yet is what it is about to bring; where
// that gives the traffic as the one before did, it is not what somebody has taken users from.
func (s syncing) about(kept func() bool) bool {
	operation := s.app.Status.OperationState
	switch {
	case operation != nil && operation.Phase == common.OperationRunning:
		return argo.Denied(operation.Message) == ""
	case s.app.Operation != nil:
		return true
	case !argo.Automated(s.app):
		return false
	}
	if argo.Heals(s.app) {
		return !s.tried() || operation.Phase.Successful()
	}
	return !s.tried() && !kept()
}

// last is when Argo CD has synced last, and which commit; nil: not known.
func (s syncing) last() values {
	operation := s.app.Status.OperationState
	if operation == nil || operation.SyncResult == nil || operation.FinishedAt == nil {
		return nil
	}
	return values{"Commit": fmt.Sprintf("%.10s", operation.SyncResult.Revision), "At": second(operation.FinishedAt.Time)}
}

// optionsOf are the sync options of the Application's policy.
func optionsOf(app *v1alpha1.Application) v1alpha1.SyncOptions {
	if policy := app.Spec.SyncPolicy; policy != nil {
		return policy.SyncOptions
	}
	return nil
}
