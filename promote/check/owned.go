package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// immutable is how Knative's webhook refuses to have its annotations taken away.
const immutable = "annotation value is immutable: metadata.annotations." + creator

func findOwned(f Facts) []found {
	if !serverSide(f) || rendered(f.Next).Annotations[creator] != "" || !owns(f.Service.ManagedFields, argoManager, "metadata", "annotations", creator) {
		return nil
	}
	condition, keeps := conditionWith(f.Setup.App, immutable), keepsIgnored(f)
	seen := condition != nil || f.sync().status() == v1alpha1.SyncStatusCodeOutOfSync
	return []found{{severity: errorIf(!keeps || seen), values: values{"Keeps": keeps, "Condition": condition, "Disown": disown(f)}}}
}

// keepsIgnored tells whether syncs apply what the cluster has in ignored fields. The
// status, which Argo CD 3 ignores of all objects, no sync applies.
func keepsIgnored(f Facts) bool {
	return f.Setup.App != nil && respects(f.Setup.App) && slices.ContainsFunc(ignored(f), func(i ignoring) bool {
		return len(i.path) == 0 || i.path[0] != "status"
	})
}

// mayCompareOnServer tells whether Knative takes the dry run of server-side diff.
func mayCompareOnServer(f Facts) bool {
	return !keepsIgnored(f) && !f.finds(ruleAnnotationsOwned)
}

// disown is how to have syncs apply what Git has and no more: nothing of the Service
// is ignored, and the API server forgets who owns which field. What is in Git Argo CD
// owns again after its next sync, the rest is nobody's.
func disown(f Facts) string {
	var all []string
	if entries := ignoringEntries(f); respects(f.Setup.App) && len(entries) > 0 {
		var operations []string
		for _, i := range slices.Backward(entries) { // the last one first, which moves no other
			operations = append(operations, fmt.Sprintf(`{"op": "remove", "path": "/spec/ignoreDifferences/%d"}`, i))
		}
		all = append(all, patchApplication(f.Setup.App, "["+strings.Join(operations, ", ")+"]"))
	}
	forget := fmt.Sprintf(`kubectl -n %s patch ksvc %s --type json -p '[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]'`, f.namespace(), f.Request.Service)
	return strings.Join(append(all, forget), "\n")
}

// ignoringEntries are the places of the Application's entries of ignoreDifferences
// that are about the Service.
func ignoringEntries(f Facts) []int {
	var all []int
	for i, entry := range f.Setup.App.Spec.IgnoreDifferences {
		if isService(entry.Group, entry.Kind) && (entry.Name == "" || entry.Name == f.Request.Service) &&
			(entry.Namespace == "" || entry.Namespace == f.namespace()) {
			all = append(all, i)
		}
	}
	return all
}
