package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/glob"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// argocdRules are about how Argo CD judges and compares Knative Services.
func argocdRules() []Rule {
	return slices.Concat(healthRules(), differenceRules(), appliedRules())
}

// healthRules are about Argo CD's health, which promotions do not rely on:
// they read the Service and its Revision themselves. People, notifications,
// sync waves, hooks and `argocd app wait` do.
func healthRules() []Rule {
	return []Rule{
		rule("health-generation-blind", findBlindHealth), rule("health-check-ignored", findIgnoredHealth),
		rule("health-of-children", findChildrenHealth), rule("known-type-fields", findKnownTypes),
	}
}

// healthLua is the health check that argocd-cm has for a kind, and its key;
// empty is the one that is built in, if any. An exact key wins over a pattern
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/util/lua/lua.go#L146-L173).
func healthLua(overrides map[string]*v1alpha1.ResourceOverride, kind string) (key, script string) {
	if o := overrides[servingGroup+"/"+kind]; o != nil && o.HealthLua != "" {
		return servingGroup + "/" + kind, o.HealthLua
	}
	for _, key := range slices.Sorted(maps.Keys(overrides)) {
		group, k, _ := strings.Cut(key, "/")
		if o := overrides[key]; o.HealthLua != "" && strings.Contains(key, "*") && glob.Match(group, servingGroup) && glob.Match(k, kind) {
			return key, o.HealthLua
		}
	}
	return "", ""
}

// findBlindHealth reads a script as people do: one that does not mention the
// field cannot know the generation.
func findBlindHealth(f Facts) []found {
	key, script := healthLua(f.Setup.Overrides, "Service")
	if strings.Contains(script, "observedGeneration") {
		return nil
	}
	waits := waiting(f.Overlay)
	return []found{{severity: warningIf(waits != ""), values: values{"Key": customization(key), "Waits": waits, "Check": serviceHealth}}}
}

// waiting is what in the overlay makes Argo CD itself wait for healthy
// resources.
func waiting(overlay *knative.State) string {
	for _, o := range objects(overlay) {
		for _, name := range []string{"argocd.argoproj.io/sync-wave", "argocd.argoproj.io/hook"} {
			if value := o.GetAnnotations()[name]; value != "" {
				return fmt.Sprintf("%s %s has %s: %q", o.GetKind(), o.GetName(), name, value)
			}
		}
	}
	return ""
}

func findIgnoredHealth(f Facts) []found {
	const annotation = "argocd.argoproj.io/ignore-healthcheck"
	if service := rendered(f.Overlay); service != nil && service.Annotations[annotation] == "true" {
		return []found{{at: f.inService("metadata", "annotations", annotation), values: values{"Annotation": annotation}}}
	}
	key, script := healthLua(f.Setup.Overrides, "Service")
	if key == "" || strings.Contains(script, "conditions") {
		return nil
	}
	return []found{{values: values{"Annotation": "", "Key": customization(key), "Check": serviceHealth}}}
}

func findChildrenHealth(f Facts) []found {
	var missing []string
	checks := ""
	for _, kind := range []string{"Configuration", "Revision", "Route"} {
		if key, _ := healthLua(f.Setup.Overrides, kind); key == "" {
			missing = append(missing, kind)
			checks += strings.ReplaceAll(childHealth, "KIND", kind)
		}
	}
	if missing == nil {
		return nil
	}
	return []found{{values: values{"Missing": missing, "Checks": checks}}}
}

func findKnownTypes(f Facts) []found {
	o := f.Setup.Overrides[servingGroup+"/Service"]
	if o == nil {
		return nil
	}
	i := slices.IndexFunc(o.KnownTypeFields, func(k v1alpha1.KnownTypeField) bool { return strings.HasPrefix(k.Field, "spec") })
	if i < 0 {
		return nil
	}
	return []found{{values: values{"Field": o.KnownTypeFields[i].Field, "Type": o.KnownTypeFields[i].Type}}}
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
