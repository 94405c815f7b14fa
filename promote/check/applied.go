package check

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/oneline"
)

// appliedRules are about how Argo CD applies the Service: server-side, by
// replacing it, and by what is left of earlier syncs.
func appliedRules() []Rule {
	return []Rule{
		rule(rulePorts, findPortsWithoutProtocol), rule("server-side-apply-switched", findSwitched),
		rule("server-side-apply-diff", findStructuredDiff), rule(ruleAnnotationsOwned, findOwned),
		rule("server-side-apply-overwrites", findOverwriting), rule("last-applied-annotations", findLastApplied), rule("replace", findReplace),
		rule("service-is-a-hook", findHook),
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
func serverSide(f Facts) bool {
	if f.Setup.App == nil {
		return false
	}
	service := rendered(f.Next)
	return hasOption(f.Setup.App, "ServerSideApply=true") || service != nil && annotated(service, syncOptions, "ServerSideApply=true")
}

// structured tells whether Argo CD compares by structured merge diff, which
// goes by the Application's options alone. An admin may have switched
// server-side diff on for all Applications, which no API tells.
func structured(f Facts) bool {
	return f.Setup.App != nil && hasOption(f.Setup.App, "ServerSideApply=true") && !annotated(f.Setup.App, compareOptions, "ServerSideDiff=true")
}

const noProtocol = `omits key field "protocol"`

func findPortsWithoutProtocol(f Facts) []found {
	container, port := portWithoutProtocol(rendered(f.Next))
	if !structured(f) || container < 0 {
		return nil
	}
	condition, status := conditionWith(f.Setup.App, noProtocol), f.Setup.App.Status.Sync.Status
	certain := condition != nil || annotated(f.Setup.App, compareOptions, "ServerSideDiff=false")
	if !certain && status != v1alpha1.SyncStatusCodeUnknown && status != "" {
		return nil // it can: by an admin's setting, or a newer Knative
	}
	return []found{{severity: errorIf(certain), at: f.inService("spec", "template", "spec", "containers", container, "ports", port), values: values{
		"Port": port, "Container": container, "Condition": condition, "CompareOnServer": compareOnServer(f),
	}}}
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

// findSwitched knows what becomes of annotations that nobody owns.
func findSwitched(f Facts) []found {
	if !serverSide(f) || len(rendered(f.Next).Annotations) > 0 || f.Service.Annotations[trackingID] != "" || f.Service.Annotations[creator] == "" {
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
	annotation := map[string]string{"app.kubernetes.io/managed-by": "argocd"}
	return []found{{values: values{"Patch": f.patch(change{Op: "add", Path: "/metadata/annotations", Value: annotation})}}}
}

func findStructuredDiff(f Facts) []found {
	if !structured(f) {
		return nil
	}
	return []found{{values: values{"CompareOnServer": compareOnServer(f)}}}
}

func findOverwriting(f Facts) []found {
	all := ignored(f)
	if !serverSide(f) || respects(f.Setup.App) || len(all) == 0 {
		return nil
	}
	return []found{{values: values{"Where": all[0].where, "Text": all[0].text}}}
}

func findLastApplied(f Facts) []found {
	if serverSide(f) || rendered(f.Next).Annotations[creator] != "" {
		return nil
	}
	var last metav1.PartialObjectMetadata
	if json.Unmarshal([]byte(f.Service.Annotations[corev1.LastAppliedConfigAnnotation]), &last) != nil || last.Annotations[creator] == "" {
		return nil
	}
	text := ""
	for _, i := range ignored(f) {
		if respects(f.Setup.App) && i.covers("metadata", "annotations", creator) {
			text = i.text
		}
	}
	return []found{{severity: errorIf(text == ""), values: values{"Ignored": text}}}
}

// findReplace needs no live Service for an option of the Service's own, which the next sync after the
// first one goes by.
func findReplace(f Facts) []found {
	app, service := f.Setup.App, rendered(f.Next)
	bySelf := service != nil && annotated(service, syncOptions, "Replace=true")
	byApp := app != nil && f.Service != nil && hasOption(app, "Replace=true")
	if !bySelf && !byApp {
		return nil
	}
	force := service != nil && annotated(service, syncOptions, "Force=true") || app != nil && hasOption(app, "Force=true")
	what := found{values: values{"BySelf": bySelf, "Force": force, "Edit": ""}}
	if bySelf {
		what.at = f.inService("metadata", "annotations", syncOptions)
	} else {
		what.values["Edit"] = editApplication(app, "spec.syncPolicy.syncOptions without Replace=true")
	}
	return []found{what}
}

// The annotations of hooks, the first one before the other.
const (
	argoHook = "argocd.argoproj.io/hook"
	helmHook = "helm.sh/hook"
)

// findHook looks at the live Service too: Argo CD goes by what that says, also where Git says it no more.
func findHook(f Facts) []found {
	for _, service := range []*servingv1.Service{rendered(f.Next), f.Service} {
		if service == nil {
			continue
		}
		object := &unstructured.Unstructured{}
		object.SetAnnotations(service.Annotations)
		skip := hook.Skip(object)
		if !skip && !hook.IsHook(object) {
			continue
		}
		annotation := argoHook
		if _, there := service.Annotations[argoHook]; !there {
			annotation = helmHook
		}
		return []found{{at: f.inService("metadata", "annotations", annotation), values: values{
			"Annotation": annotation, "Value": oneline.Brief(service.Annotations[annotation]), "Skip": skip, "Live": service == f.Service,
		}}}
	}
	return nil
}
