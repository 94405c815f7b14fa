package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/promote/event"
)

// argocdRules are about how Argo CD judges and compares Knative Services.
func argocdRules() []Rule {
	return slices.Concat(healthRules(), differenceRules(), appliedRules())
}

// healthRules are about Argo CD's health, which promotions do not rely on:
// they read the Service and its Revision themselves. People, notifications,
// sync waves, hooks and `argocd app wait` do.
func healthRules() []Rule {
	const link = "https://argo-cd.readthedocs.io/en/stable/operator-manual/health/#custom-health-checks"
	return []Rule{
		{
			ID: "health-generation-blind", Severity: event.SeverityInfo, Find: findBlindHealth, Link: link,
			Summary: "Argo CD's health check of Knative Services does not look at the generation",
		},
		{
			ID: "health-check-ignored", Severity: event.SeverityWarning, Find: findIgnoredHealth,
			Summary: "Argo CD does not look at the Service's health at all",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/health/#ignoring-child-resource-health-check-in-applications",
		},
		{
			ID: "health-of-children", Severity: event.SeverityInfo, Find: findChildrenHealth, Link: link,
			Summary: "Argo CD has no health checks for Configurations, Revisions and Routes",
		},
		{
			ID: "known-type-fields", Severity: event.SeverityWarning, Find: findKnownTypes,
			Summary: "knownTypeFields make Argo CD compare Knative Services with defaults that are not Knative's",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/#known-kubernetes-types-in-crds-resource-limits-volume-mounts-etc",
		},
	}
}

// healthLua is the health check that argocd-cm has for a kind, and its key;
// empty is the one that is built in, if any. An exact key wins over a pattern
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/lua/lua.go#L146-L173).
func (f Facts) healthLua(kind string) (key, script string) {
	if o := f.Setup.Overrides[servingGroup+"/"+kind]; o != nil && o.HealthLua != "" {
		return servingGroup + "/" + kind, o.HealthLua
	}
	for _, key := range slices.Sorted(maps.Keys(f.Setup.Overrides)) {
		group, k, _ := strings.Cut(key, "/")
		if o := f.Setup.Overrides[key]; o.HealthLua != "" && strings.Contains(key, "*") && glob.Match(group, servingGroup) && glob.Match(k, kind) {
			return key, o.HealthLua
		}
	}
	return "", ""
}

// findBlindHealth reads a script as people do: one that does not mention the
// field cannot know the generation.
func findBlindHealth(f Facts) []event.Finding {
	if f.Setup.Overrides == nil {
		return nil
	}
	key, script := f.healthLua("Service")
	evidence := "argocd-cm has no health check for " + servingGroup + "_Service, so Argo CD's own is used, which only counts conditions"
	if key != "" {
		evidence = "resource.customizations.health." + customization(key) + " in argocd-cm does not mention observedGeneration"
	}
	if strings.Contains(script, "observedGeneration") {
		return nil
	}
	finding := event.Finding{
		Problem: "Argo CD calls a Knative Service Healthy by the conditions of its generation before",
		Effect: "Promotions do not rely on it: they compare the generation themselves. But for a moment after each sync the Application is Synced and Healthy " +
			"whatever was deployed, so `argocd app wait --health`, notifications and people see broken images as good.",
		Evidence: evidence,
		Fix:      "Put this into argocd-cm, below data:\n" + serviceHealth,
	}
	if waits := f.waiting(); waits != "" {
		finding.Severity = event.SeverityWarning
		finding.Effect += " Sync waves and hooks go on too early."
		finding.Evidence += "\n" + waits
	}
	return []event.Finding{finding}
}

// waiting is what in the overlay makes Argo CD itself wait for healthy
// resources.
func (f Facts) waiting() string {
	for _, o := range objects(f.Overlay) {
		for _, name := range []string{"argocd.argoproj.io/sync-wave", "argocd.argoproj.io/hook"} {
			if value := o.GetAnnotations()[name]; value != "" {
				return fmt.Sprintf("%s %s has %s: %q", o.GetKind(), o.GetName(), name, value)
			}
		}
	}
	return ""
}

func findIgnoredHealth(f Facts) []event.Finding {
	const annotation = "argocd.argoproj.io/ignore-healthcheck"
	if service := rendered(f.Overlay); service != nil && service.Annotations[annotation] == "true" {
		at := f.inService("metadata", "annotations", annotation)
		return []event.Finding{{
			Problem:  fmt.Sprintf("Service %s is annotated %s: \"true\"", f.Request.Service, annotation),
			Effect:   "Promotions do not rely on Argo CD's health. But the Application is Healthy while the Service is broken, for people, notifications and `argocd app wait`.",
			Evidence: "the annotation in the overlay's render",
			Fix:      "Take the annotation away.",
			File:     at.File, Line: at.Line,
		}}
	}
	key, script := f.healthLua("Service")
	if key == "" || strings.Contains(script, "conditions") {
		return nil
	}
	return []event.Finding{{
		Problem:  "The health check of Knative Services in argocd-cm does not look at their conditions",
		Effect:   "Promotions do not rely on Argo CD's health. But Argo CD cannot tell a broken Service from a good one, nor can those who ask it.",
		Evidence: "resource.customizations.health." + customization(key) + " in argocd-cm does not mention conditions",
		Fix:      "Put this into argocd-cm in its place, below data:\n" + serviceHealth,
	}}
}

func findChildrenHealth(f Facts) []event.Finding {
	if f.Setup.Overrides == nil {
		return nil
	}
	var missing []string
	fix := "If you want to see them, put this into argocd-cm, below data:\n"
	for _, kind := range []string{"Configuration", "Revision", "Route"} {
		if key, _ := f.healthLua(kind); key == "" {
			missing = append(missing, kind)
			fix += strings.ReplaceAll(childHealth, "KIND", kind)
		}
	}
	if missing == nil {
		return nil
	}
	return []event.Finding{{
		Problem: "Argo CD has no health check for the Knative kinds " + strings.Join(missing, ", "),
		Effect: "None for promotions, nor for the Application's health, to which only what is in Git counts. In Argo CD's tree these objects show no state, " +
			"so a revision that failed is not seen there.",
		Evidence: "resource.customizations.health in argocd-cm; Argo CD itself brings a check for Services alone",
		Fix:      fix,
	}}
}

func findKnownTypes(f Facts) []event.Finding {
	o := f.Setup.Overrides[servingGroup+"/Service"]
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(o.KnownTypeFields, func(k v1alpha1.KnownTypeField) bool { return strings.HasPrefix(k.Field, "spec") })
	if i < 0 {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Argo CD reads %s of Knative Services as %s", o.KnownTypeFields[i].Field, o.KnownTypeFields[i].Type),
		Effect: "It compares the template as Kubernetes would write it out and not as Knative does. A Service whose containers have no name is OutOfSync for ever " +
			"and self-heal syncs it again and again, until the first promotion has written the template out.",
		Evidence: "resource.customizations.knownTypeFields." + servingGroup + "_Service in argocd-cm",
		Fix:      "Take the key away:\nkubectl -n " + f.argocd() + " edit configmap argocd-cm",
	}}
}

// annotated tells whether an object has an option in a list of Argo CD's.
func annotated(o metav1.Object, annotation, option string) bool {
	return slices.Contains(options(o.GetAnnotations()[annotation]), option)
}

func options(list string) []string {
	parts := strings.Split(list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}
