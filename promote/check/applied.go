package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/promote/event"
)

// appliedRules are about how Argo CD applies the Service: server-side, by
// replacing it, and by what is left of earlier syncs.
func appliedRules() []Rule {
	const options = "https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/"
	return []Rule{
		{
			ID: "server-side-apply-ports", Severity: event.SeverityWarning, Find: findPortsWithoutProtocol,
			Summary: "ServerSideApply without ServerSideDiff, and ports without a protocol",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diff-strategies/#server-side-diff",
		},
		{
			ID: "server-side-apply-switched", Severity: event.SeverityError, Find: findSwitched, Link: options + "#server-side-apply",
			Summary: "ServerSideApply was switched on for a Service that was applied client-side before",
		},
		{
			ID: "server-side-apply-diff", Severity: event.SeverityInfo, Find: findStructuredDiff,
			Summary: "ServerSideApply without ServerSideDiff",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diff-strategies/#server-side-diff",
		},
		{
			ID: "server-side-apply-annotations", Severity: event.SeverityWarning, Find: findOwned, Link: options + "#respect-ignore-difference-configs",
			Summary: "Argo CD owns Knative's own annotations of the Service, and Git does not have them",
		},
		{
			ID: "server-side-apply-overwrites", Severity: event.SeverityInfo, Find: findOverwriting, Link: options + "#respect-ignore-difference-configs",
			Summary: "ServerSideApply with ignored differences, without RespectIgnoreDifferences",
		},
		{
			ID: "last-applied-annotations", Severity: event.SeverityInfo, Find: findLastApplied, Link: options + "#respect-ignore-difference-configs",
			Summary: "Knative's own annotations stand in the Service's last-applied annotation",
		},
		{
			ID: "replace", Severity: event.SeverityError, Find: findReplace, Link: options + "#replace-resource-instead-of-applying-changes",
			Summary: "Argo CD replaces the Service instead of applying changes",
		},
	}
}

const (
	syncOptions    = "argocd.argoproj.io/sync-options"
	compareOptions = "argocd.argoproj.io/compare-options"
	trackingID     = "argocd.argoproj.io/tracking-id"
	creator        = "serving.knative.dev/creator"
)

// serverSide tells whether syncs apply the Service server-side: by the
// Application or by the Service's own annotation.
func (f Facts) serverSide() bool {
	if f.Setup.App == nil {
		return false
	}
	service := rendered(f.Next)
	return hasOption(f.Setup.App, "ServerSideApply=true") || service != nil && annotated(service, syncOptions, "ServerSideApply=true")
}

// structured tells whether Argo CD compares by structured merge diff, which
// goes by the Application's options alone. An admin may have switched
// server-side diff on for all Applications, which no API tells.
func (f Facts) structured() bool {
	return f.Setup.App != nil && hasOption(f.Setup.App, "ServerSideApply=true") && !annotated(f.Setup.App, compareOptions, "ServerSideDiff=true")
}

const noProtocol = `omits key field "protocol"`

func findPortsWithoutProtocol(f Facts) []event.Finding {
	container, port := portWithoutProtocol(rendered(f.Next))
	if !f.structured() || container < 0 {
		return nil
	}
	keys := []any{"spec", "template", "spec", "containers", container, "ports", port}
	at := f.inService(keys...)
	finding := event.Finding{
		Problem: fmt.Sprintf("Port %d of container %d of Service %s names no protocol, and Application %s uses ServerSideApply without ServerSideDiff",
			port, container, f.Request.Service, f.application()),
		Effect:   "Argo CD cannot compare the Service: ComparisonError, sync status Unknown. It syncs nothing, neither a promotion nor its rollback.",
		Evidence: "spec.syncPolicy.syncOptions of the Application, no " + compareOptions + ": ServerSideDiff=true",
		Fix:      "Write `protocol: TCP` beside containerPort.",
		File:     at.File, Line: at.Line,
	}
	if f.mayCompareOnServer() {
		finding.Fix += " Or switch server-side diff on:\n" + f.compareOnServer()
	}
	switch condition := conditionWith(f.Setup.App, noProtocol); {
	case condition != nil:
		finding.Severity = event.SeverityError
		finding.Evidence += "\n" + string(condition.Type) + ": " + condition.Message
	case annotated(f.Setup.App, compareOptions, "ServerSideDiff=false"):
		finding.Severity = event.SeverityError
	case f.Setup.App.Status.Sync.Status != v1alpha1.SyncStatusCodeUnknown && f.Setup.App.Status.Sync.Status != "":
		return nil // it can: by an admin's setting, or a newer Knative
	}
	return []event.Finding{finding}
}

// portWithoutProtocol finds the first, container is -1 when there is none.
func portWithoutProtocol(service *servingv1.Service) (container, port int) {
	if service == nil {
		return -1, -1
	}
	for i, c := range service.Spec.Template.Spec.Containers {
		if j := slices.IndexFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Protocol == "" }); j >= 0 {
			return i, j
		}
	}
	return -1, -1
}

// conditionWith is a condition of the Application whose message has some text.
func conditionWith(app *v1alpha1.Application, text string) *v1alpha1.ApplicationCondition {
	i := slices.IndexFunc(app.Status.Conditions, func(c v1alpha1.ApplicationCondition) bool { return strings.Contains(c.Message, text) })
	if i < 0 {
		return nil
	}
	return &app.Status.Conditions[i]
}

// findSwitched knows what becomes of annotations that nobody owns. Knative's
// webhook adds its own, and those of webhooks belong to no manager. The first
// server-side sync makes Argo CD the owner of all that its client-side syncs
// had, with the annotations as a whole; a later one has none to apply and takes
// away the whole, Knative's with it, which Knative refuses.
func findSwitched(f Facts) []event.Finding {
	service := rendered(f.Next)
	if !f.serverSide() || f.Service == nil || service == nil || len(service.Annotations) > 0 ||
		f.Service.Annotations[trackingID] != "" || f.Service.Annotations[creator] == "" {
		return nil
	}
	owned := false
	for _, entry := range f.Service.ManagedFields {
		if ownedBy(entry, "metadata", "annotations", creator) {
			return nil
		}
		owned = owned || entry.Manager == argoManager && ownedBy(entry, "metadata", "annotations", ".")
	}
	if !owned {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Application %s uses ServerSideApply, and Service %s was applied client-side before", f.application(), f.Request.Service),
		Effect: "From the second server-side sync on Knative refuses every one (\"annotation value is immutable: metadata.annotations." + creator +
			"\"): a promotion stops in the middle and cannot be rolled back.",
		Evidence: "managedFields of the live Service: " + argoManager + " owns metadata.annotations as a whole, nobody owns " + creator,
		Fix: "Give the Service an annotation of your own in Git, so that there is always one to apply:\n" +
			f.patch(change{Op: "add", Path: "/metadata/annotations", Value: map[string]string{"app.kubernetes.io/managed-by": "argocd"}}),
	}}
}

func findStructuredDiff(f Facts) []event.Finding {
	if !f.structured() {
		return nil
	}
	finding := event.Finding{
		Problem: fmt.Sprintf("Application %s uses ServerSideApply without ServerSideDiff", f.application()),
		Effect: "What Knative adds inside the list of containers counts as a difference. A Service whose template does not write it out is OutOfSync after every " +
			"sync, and a promotion, which writes out most of it, may not see its commits live.",
		Evidence: "spec.syncPolicy.syncOptions of the Application, no " + compareOptions + ": ServerSideDiff=true (it may be on for all Applications, which cannot be seen)",
		Fix:      f.compareOnServer(),
	}
	if !f.mayCompareOnServer() {
		finding.Fix = "Not ServerSideDiff=true as long as syncs keep what is ignored: Knative refuses the dry run that it compares by."
	}
	return []event.Finding{finding}
}

func findOverwriting(f Facts) []event.Finding {
	ignored := f.ignored()
	if !f.serverSide() || respects(f.Setup.App) || len(ignored) == 0 {
		return nil
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("Application %s uses ServerSideApply and ignores differences, without RespectIgnoreDifferences", f.application()),
		Effect:   "What is ignored is still overwritten by every sync, because Argo CD forces conflicts. For a promotion that is right.",
		Evidence: ignored[0].where + ": " + ignored[0].text,
		Fix:      "Nothing is to be done, as long as nobody counts on these fields being left alone.",
	}}
}

// findLastApplied looks for what syncs with RespectIgnoreDifferences leave
// behind: what they keep of the live Service is applied, and remembered.
func findLastApplied(f Facts) []event.Finding {
	service := rendered(f.Next)
	if f.Service == nil || service == nil || f.Setup.App == nil || f.serverSide() || service.Annotations[creator] != "" {
		return nil
	}
	var last metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(f.Service.Annotations[corev1.LastAppliedConfigAnnotation]), &last) != nil || last.Annotations[creator] == "" {
		return nil
	}
	forget := fmt.Sprintf("kubectl -n %s annotate ksvc %s %s-", f.namespace(), f.Request.Service, corev1.LastAppliedConfigAnnotation)
	finding := event.Finding{
		Severity: event.SeverityError,
		Problem:  fmt.Sprintf("%s stands in the last-applied annotation of Service %s, and not in Git", creator, f.Request.Service),
		Effect:   "Every sync tries to take the annotation away, and Knative refuses it: nothing can be promoted or rolled back.",
		Evidence: corev1.LastAppliedConfigAnnotation + " of the live Service; syncs with RespectIgnoreDifferences=true leave it there",
		Fix:      "Let the next sync start anew:\n" + forget,
	}
	for _, i := range f.ignored() {
		if respects(f.Setup.App) && i.covers("metadata", "annotations", creator) {
			finding.Severity = event.SeverityInfo
			finding.Effect = "None as long as Argo CD ignores it (" + i.text + ") and respects that. Once it does not, Knative refuses every sync."
			finding.Fix = "When you take the entry out of ignoreDifferences, also paste:\n" + forget
		}
	}
	return []event.Finding{finding}
}

func findReplace(f Facts) []event.Finding {
	service := rendered(f.Next)
	if f.Setup.App == nil || service == nil || f.Service == nil {
		return nil
	}
	byApp, bySelf := hasOption(f.Setup.App, "Replace=true"), annotated(service, syncOptions, "Replace=true")
	if !byApp && !bySelf {
		return nil
	}
	finding := event.Finding{
		Problem: fmt.Sprintf("Argo CD replaces Service %s instead of applying changes", f.Request.Service),
		Effect: "Knative refuses every sync (\"annotation value is immutable: metadata.annotations." + creator + "\"), because a replacement from Git lacks its " +
			"annotations: a promotion fails at its first step.",
		Evidence: "Replace=true in spec.syncPolicy.syncOptions of application " + f.application(),
		Fix:      "Take the option away, in Git if that is where the Application comes from:\n" + f.editApplication("spec.syncPolicy.syncOptions without Replace=true"),
	}
	if bySelf {
		at := f.inService("metadata", "annotations", syncOptions)
		finding.File, finding.Line = at.File, at.Line
		finding.Evidence = syncOptions + " of the Service has Replace=true"
		finding.Fix = "Take Replace=true out of the annotation."
	}
	if annotated(service, syncOptions, "Force=true") || hasOption(f.Setup.App, "Force=true") {
		finding.Effect = "With Force=true every sync deletes the Service with all its revisions and creates it anew: it is down for a while, and there is no " +
			"old revision that traffic could come from or return to."
	}
	return []event.Finding{finding}
}
