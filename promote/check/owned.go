package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/promote/event"
)

// immutable is how Knative's webhook refuses to have its annotations taken away.
const immutable = "annotation value is immutable: metadata.annotations." + creator

// findOwned knows what a server-side sync does that respects ignored differences: it
// applies what the cluster has there, so that Argo CD owns it. Git does not have it,
// so whoever applies Git alone takes it away, which Knative refuses: server-side diff
// at once, and every sync once the fields are not ignored any more.
func findOwned(f Facts) []event.Finding {
	service := rendered(f.Next)
	if !f.serverSide() || f.Service == nil || service == nil || service.Annotations[creator] != "" ||
		!owns(f.Service.ManagedFields, argoManager, "metadata", "annotations", creator) {
		return nil
	}
	finding := event.Finding{
		Severity: event.SeverityError,
		Problem:  fmt.Sprintf("Argo CD owns %s of Service %s in managedFields, and Git does not have it", creator, f.Request.Service),
		Effect:   "A sync of what Git has takes the annotation away, and Knative refuses that (\"" + immutable + "\"): nothing can be promoted or rolled back. It does not pass by itself.",
		Evidence: "managedFields of the live Service: " + argoManager + " owns metadata.annotations." + creator + "; syncs with ServerSideApply and RespectIgnoreDifferences leave it so",
		Fix:      f.disown(),
	}
	condition := conditionWith(f.Setup.App, immutable)
	if condition != nil {
		finding.Evidence += "\n" + string(condition.Type) + ": " + condition.Message
	}
	if f.keepsIgnored() {
		finding.Effect = "As long as syncs keep what is ignored they succeed, but Argo CD may show the Service as OutOfSync after every one, and a promotion does not see " +
			"its commits live. A sync of what Git has alone, and ServerSideDiff, Knative refuses (\"" + immutable + "\")."
		if condition == nil && f.syncStatus() != v1alpha1.SyncStatusCodeOutOfSync {
			finding.Severity = event.SeverityWarning // nothing of that is seen
		}
	}
	return []event.Finding{finding}
}

// keepsIgnored tells whether syncs apply what the cluster has in ignored fields. The
// status, which Argo CD 3 ignores of all objects, no sync applies.
func (f Facts) keepsIgnored() bool {
	return f.Setup.App != nil && respects(f.Setup.App) && slices.ContainsFunc(f.ignored(), func(i ignoring) bool {
		return len(i.path) == 0 || i.path[0] != "status"
	})
}

// mayCompareOnServer tells whether Knative takes the dry run of server-side diff.
func (f Facts) mayCompareOnServer() bool { return !f.keepsIgnored() && len(findOwned(f)) == 0 }

// disown is how to have syncs apply what Git has and no more: nothing of the Service
// is ignored, and the API server forgets who owns which field. What is in Git Argo CD
// owns again after its next sync, the rest is nobody's.
func (f Facts) disown() string {
	var all []string
	if entries := f.ignoringEntries(); respects(f.Setup.App) && len(entries) > 0 {
		var operations []string
		for _, i := range slices.Backward(entries) { // the last one first, which moves no other
			operations = append(operations, fmt.Sprintf(`{"op": "remove", "path": "/spec/ignoreDifferences/%d"}`, i))
		}
		all = append(all, f.patchApplication("["+strings.Join(operations, ", ")+"]"))
	}
	forget := fmt.Sprintf(`kubectl -n %s patch ksvc %s --type json -p '[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]'`, f.namespace(), f.Request.Service)
	return "Let Argo CD ignore nothing of the Service, then let the API server forget who owns its fields:\n" + strings.Join(append(all, forget), "\n")
}

// ignoringEntries are the places of the Application's entries of ignoreDifferences
// that are about the Service.
func (f Facts) ignoringEntries() []int {
	var all []int
	for i, entry := range f.Setup.App.Spec.IgnoreDifferences {
		if f.isService(entry.Group, entry.Kind) && (entry.Name == "" || entry.Name == f.Request.Service) &&
			(entry.Namespace == "" || entry.Namespace == f.namespace()) {
			all = append(all, i)
		}
	}
	return all
}
