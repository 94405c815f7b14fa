package check

import (
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// OutOfSync is the rule that finds that the present commit cannot get in sync.
// A promotion that is under way has to go on, or back, all the same.
const OutOfSync = "out-of-sync"

// findOutOfSync is about a commit that Argo CD has tried to sync. What ended
// that ends a promotion's first commit too, unless the promotion corrects it, and
// the commit that rolls it back.
func findOutOfSync(f Facts) []found {
	tried, adds := f.sync().tried(), serverAdds(f)
	if operation := f.Setup.App.Status.OperationState; tried && (operation.Phase.Failed() || isRefused(operation)) {
		return failedSync(f, operation)
	}
	seen := tried && f.sync().comparedSince() || adds && f.sync().deployed()
	if !seen || f.sync().status() != v1alpha1.SyncStatusCodeOutOfSync || differsOtherwise(f) {
		return nil
	}
	compare := ""
	if adds {
		compare = compareOnServer(f)
	}
	heals := argo.Heals(f.Setup.App) // else somebody may have changed it in the cluster
	return []found{{severity: errorIf(heals), values: values{"Failed": nil, "Beside": nil, "Services": nil, "Unlike": unlike(f), "CompareOnServer": compare}}}
}

// serverAdds tells whether what Knative adds to the template counts as a difference, after every sync.
func serverAdds(f Facts) bool {
	if !structured(f) || !mayCompareOnServer(f) {
		return false
	}
	missing, err := f.Overlay.MissingDefaults(f.Service)
	return err == nil && missing != nil
}

// differsOtherwise tells whether another rule knows why the Service is out of sync.
func differsOtherwise(f Facts) bool {
	return len(unchangeable(f)) > 0 || slices.ContainsFunc([]string{ruleNotNormal, ruleSelector, ruleAnnotationsOwned}, f.finds)
}

// isRefused tells whether Argo CD tries a sync again that an admission webhook
// or the schema has refused more than once: it fails each time. After the first
// time somebody may just have removed the reason.
func isRefused(operation *v1alpha1.OperationState) bool {
	return operation.Phase == common.OperationRunning && operation.RetryCount > 1 && argo.Denied(operation.Message) != ""
}

// failedSync leaves out what another rule explains: a promotion corrects a
// template under an old name, and some of what Knative refuses.
func failedSync(f Facts, operation *v1alpha1.OperationState) []found {
	const most = 5 // failures that are shown
	words := []string{operation.Message}
	var others, services []string // others than the Service; Knative's of them that are refused
	failed, own := argo.FailedObjects(f.Overlay.Service(), operation)
	for _, r := range failed {
		words = append(words, fmt.Sprintf("%s/%s: %s", r.Kind, r.Name, r.Message))
		service := argo.IsKnativeService(r.Group, r.Kind)
		if service && r.Name == f.Overlay.Service() {
			continue
		}
		others = append(others, r.Kind+"/"+r.Name)
		if service && argo.Denied(r.Message) != "" {
			services = append(services, r.Name)
		}
	}
	corrects := f.Overlay.Refusal() != nil || f.finds(ruleTemplateChanged) || len(unchangeable(f)) > 0
	if len(others) == 0 && corrects || explained(f, operation.Message) {
		return nil
	}
	severity := event.SeverityWarning
	if own || len(others) == 0 {
		severity, others, services = event.SeverityError, nil, nil
	}
	return []found{{severity: severity, values: values{"Failed": words[:min(len(words), 1+most)], "Beside": others, "Services": services}}}
}

// unlike names the fields of Git that are not so in the cluster.
func unlike(f Facts) []string {
	if f.Service == nil {
		return nil
	}
	differing, err := knative.Unlike(f.Overlay, f.Service)
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
// their values differ from those in the cluster, or, of a change that is proposed, from those before.
func unchangeable(f Facts) []string {
	if f.Overlay == nil || f.Service == nil && f.Before == nil {
		return nil
	}
	var found []string
	for _, key := range []string{"serving.knative.dev/creator", "serving.knative.dev/lastModifier"} {
		if value, there := knative.Annotation(f.Overlay, key); there && value != f.had(key) {
			found = append(found, key)
		}
	}
	return found
}

// had is an annotation as the cluster has it, or as a change that is proposed finds it.
func (f Facts) had(annotation string) string {
	if f.Service != nil {
		return f.Service.Annotations[annotation]
	}
	value, _ := knative.Annotation(f.Before, annotation)
	return value
}

// findUnchangeable is a part of promotion-refused.
func findUnchangeable(f Facts) []found {
	var all []found
	for _, key := range unchangeable(f) {
		all = append(all, found{at: f.inService("metadata", "annotations", key), values: values{"Annotation": key, "Value": f.had(key), "Proposed": f.Service == nil}})
	}
	return all
}
