package check

import (
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// OutOfSync is the rule that finds that the present commit cannot get in sync.
// A promotion that is under way has to go on, or back, all the same.
const OutOfSync = "out-of-sync"

// findOutOfSync is about a commit that Argo CD has tried to sync. What ended
// that ends a promotion's first commit too, unless the promotion corrects it, and
// the commit that rolls it back.
func findOutOfSync(f Facts) []found {
	tried, adds := f.tried(), f.serverAdds()
	if operation := f.Setup.App.Status.OperationState; tried && (operation.Phase.Failed() || isRefused(operation)) {
		return f.failedSync(operation)
	}
	seen := tried && f.comparedSince() || adds && f.deployed()
	if !seen || f.syncStatus() != v1alpha1.SyncStatusCodeOutOfSync || f.differsOtherwise() {
		return nil
	}
	compare := ""
	if adds {
		compare = f.compareOnServer()
	}
	heals := f.automated() && f.Setup.App.Spec.SyncPolicy.Automated.SelfHeal // else somebody may have changed it in the cluster
	return []found{{severity: errorIf(heals), values: values{"Failed": nil, "Unlike": f.unlike(), "CompareOnServer": compare}}}
}

// serverAdds tells whether what Knative adds to the template counts as a difference, after every sync.
func (f Facts) serverAdds() bool {
	if !f.structured() || !f.mayCompareOnServer() {
		return false
	}
	missing, err := f.Overlay.MissingDefaults(f.Service)
	return err == nil && missing != nil
}

// deployed tells whether this very commit is the newest that Argo CD has synced with success, whatever it does now.
func (f Facts) deployed() bool {
	history := f.Setup.App.Status.History
	if len(history) == 0 {
		return false
	}
	last := history.LastRevisionHistory()
	return f.at(last.Revision, last.Revisions)
}

// differsOtherwise tells whether another rule knows why the Service is out of sync.
func (f Facts) differsOtherwise() bool {
	return len(f.unchangeable()) > 0 || slices.ContainsFunc([]string{ruleNotNormal, ruleSelector, ruleAnnotationsOwned}, f.finds)
}

// comparedSince tells whether Argo CD has compared the Application after its
// last operation has ended. The times are in whole seconds.
func (f Facts) comparedSince() bool {
	status := f.Setup.App.Status
	return status.ReconciledAt != nil &&
		(status.OperationState == nil || status.OperationState.FinishedAt == nil || status.ReconciledAt.After(status.OperationState.FinishedAt.Time))
}

// tried tells whether the last operation has synced this very commit, or has
// failed to, with the sync options that the Application has now.
func (f Facts) tried() bool {
	if !f.compared() {
		return false
	}
	operation := f.Setup.App.Status.OperationState
	if operation == nil || operation.SyncResult == nil || !operation.Phase.Completed() && !isRefused(operation) {
		return false
	}
	if sync := operation.Operation.Sync; sync != nil && !slices.Equal(sync.SyncOptions, f.syncOptions()) {
		return false // a retry keeps the options that it began with
	}
	return f.at(operation.SyncResult.Revision, operation.SyncResult.Revisions)
}

// syncOptions are those of the Application's policy.
func (f Facts) syncOptions() v1alpha1.SyncOptions {
	if policy := f.Setup.App.Spec.SyncPolicy; policy != nil {
		return policy.SyncOptions
	}
	return nil
}

// isRefused tells whether Argo CD tries a sync again that an admission webhook
// or the schema has refused more than once: it fails each time. After the first
// time somebody may just have removed the reason.
func isRefused(operation *v1alpha1.OperationState) bool {
	return operation.Phase == common.OperationRunning && operation.RetryCount > 1 && argo.Denied(operation.Message) != ""
}

// failedSync leaves out what another rule explains: a promotion corrects a
// template under an old name, and some of what Knative refuses.
func (f Facts) failedSync(operation *v1alpha1.OperationState) []found {
	const most = 5 // failures that are shown
	failed := []string{operation.Message}
	others := false
	for _, r := range operation.SyncResult.Resources {
		if r.Status != common.ResultCodeSyncFailed && !r.HookPhase.Failed() {
			continue
		}
		failed = append(failed, fmt.Sprintf("%s/%s: %s", r.Kind, r.Name, r.Message))
		others = others || r.Group != "serving.knative.dev" || r.Name != f.Overlay.Service()
	}
	corrects := f.Overlay.Refusal() != nil || f.finds(ruleTemplateChanged) || len(f.unchangeable()) > 0
	if !others && corrects || f.explained(operation.Message) {
		return nil
	}
	return []found{{severity: event.SeverityError, values: values{"Failed": failed[:min(len(failed), 1+most)]}}}
}

// unlike names the fields of Git that are not so in the cluster.
func (f Facts) unlike() []string {
	if f.Service == nil {
		return nil
	}
	differing, err := f.Overlay.Unlike(f.Service)
	if err != nil {
		return nil
	}
	var fields []string
	for _, field := range differing {
		fields = append(fields, readable(keys(field)))
	}
	return fields
}

// unchangeable are the annotations in Git that Knative itself writes, where
// their values differ from those in the cluster.
func (f Facts) unchangeable() []string {
	if f.Overlay == nil || f.Service == nil {
		return nil
	}
	var found []string
	for _, key := range []string{"serving.knative.dev/creator", "serving.knative.dev/lastModifier"} {
		if value, there := f.Overlay.Annotation(key); there && value != f.Service.Annotations[key] {
			found = append(found, key)
		}
	}
	return found
}

// findUnchangeable is a part of promotion-refused.
func findUnchangeable(f Facts) []found {
	var all []found
	for _, key := range f.unchangeable() {
		all = append(all, found{at: f.inService("metadata", "annotations", key), values: values{"Annotation": key, "Value": f.Service.Annotations[key]}})
	}
	return all
}
