package check

import (
	"fmt"
	"strings"

	k8s "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// findMayNotStartJobs is about the Jobs of an analysis. They are not in Git, so no
// sync shows that they are not permitted.
func findMayNotStartJobs(f Facts) []event.Finding {
	if f.Setup.App == nil || len(f.Request.CronJobs) == 0 {
		return nil
	}
	finding := event.Finding{Effect: fmt.Sprintf("The analysis has to run %s and could not be measured: a promotion would be rolled back, however good the candidate is.",
		strings.Join(f.Request.CronJobs, ", "))}
	var found []event.Finding
	if may, asked := f.Setup.Can[argo.MayStartJobs]; asked && !may {
		finding.Problem = fmt.Sprintf("The Argo CD token may not start Jobs of Application %s", f.application())
		finding.Evidence = "the API server refuses applications, " + string(argo.MayStartJobs)
		finding.Fix = fmt.Sprintf("In the project's roles or in argocd-rbac-cm:\np, ROLE, applications, %s, %s, allow", argo.MayStartJobs, policyObject(f.app(), f.Setup))
		found = append(found, finding)
	}
	if project := f.Setup.Project; project != nil && !project.IsGroupKindPermitted(k8s.GroupKind{Group: "batch", Kind: "Job"}, true) {
		finding.Problem = fmt.Sprintf("Project %s does not permit the kind batch/Job", project.Name)
		finding.Evidence = fmt.Sprintf("spec.namespaceResourceWhitelist: %v\nspec.namespaceResourceBlacklist: %v",
			project.Spec.NamespaceResourceWhitelist, project.Spec.NamespaceResourceBlacklist)
		finding.Fix = fmt.Sprintf("argocd proj allow-namespace-resource %s batch Job", project.Name)
		found = append(found, finding)
	}
	return found
}
