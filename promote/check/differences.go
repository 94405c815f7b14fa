package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// differenceRules are about what Argo CD leaves out when it compares and syncs
// the Knative Service.
func differenceRules() []Rule {
	return []Rule{
		{
			ID: "traffic-ignored", Severity: event.SeverityInfo, Find: findTrafficIgnored,
			Summary: "Argo CD is told to ignore differences of /spec/traffic",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/",
		},
		{
			ID: "template-ignored", Severity: event.SeverityInfo, Find: findTemplateIgnored,
			Summary: "Argo CD is told to ignore differences of the template",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#respect-ignore-difference-configs",
		},
		{
			ID: "ignored-unclear", Severity: event.SeverityWarning, Find: findUnclear,
			Summary: "an expression that may make Argo CD ignore the traffic or the template",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/",
		},
		{
			ID: "status-not-ignored", Severity: event.SeverityInfo, Find: findStatusNotIgnored,
			Summary: "/status and Knative's annotations are not ignored, which is right",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/",
		},
	}
}

const guides = "Guides advise it so that kn or a rollout controller may shift the traffic in the cluster; here Git does."

// findTrafficIgnored knows two ways in which it ends. A sync that respects the
// ignored differences never applies any traffic. Without that the traffic goes
// along with what else is synced, so the first step works, and a commit that
// shifts nothing but traffic is Synced as soon as Argo CD sees it.
func findTrafficIgnored(f Facts) []event.Finding {
	var found []event.Finding
	for _, i := range f.ignored() {
		if !i.covers("spec", "traffic") && !f.keeps(i, "spec", "traffic") {
			continue
		}
		finding := f.ignoredFinding(i, "the traffic of Service "+f.Request.Service)
		finding.Severity = event.SeverityWarning
		if f.Request.Shifts {
			finding.Severity = event.SeverityError
		}
		if respects(f.Setup.App) {
			finding.Effect = "With RespectIgnoreDifferences=true no sync ever changes the traffic: the candidate gets no tag and no share, the promotion " +
				"fails at its first step. "
		} else {
			finding.Effect = "A commit that only shifts traffic makes no difference for Argo CD: it calls the commit Synced without applying it, " +
				"and the promotion fails at its first step above 0 %. "
		}
		finding.Effect += guides
		found = append(found, finding)
	}
	return found
}

// findTemplateIgnored finds an error only where a sync respects the ignored
// differences: every change of a promotion differs in the traffic too, and
// then Argo CD applies all of the manifest.
func findTemplateIgnored(f Facts) []event.Finding {
	var found []event.Finding
	for _, i := range f.ignored() {
		if !i.covers("spec", "template") && !f.keeps(i, "spec", "template") {
			continue
		}
		finding := f.ignoredFinding(i, "the template of Service "+f.Request.Service)
		switch {
		case !respects(f.Setup.App):
			finding.Effect = "Promotions work, because each of their commits differs in the traffic too and then Argo CD applies all of the manifest. " +
				"A commit that changes nothing but this in the template is called Synced without being applied."
		case i.decides(f):
			finding.Severity = event.SeverityError
			finding.Effect = "With RespectIgnoreDifferences=true every sync keeps what the cluster has: the new revision never gets its name and image, " +
				"the promotion fails at its first step. Taking the setting away later does not repair the Service at once: what was kept stands in its " +
				"last-applied annotation by then, and Knative refuses to have it removed without a new revision name."
		default:
			finding.Severity = event.SeverityWarning
			finding.Effect = "With RespectIgnoreDifferences=true every sync keeps what the cluster has: the new revision runs with its predecessor's " +
				"value of this field, whatever Git says."
		}
		found = append(found, finding)
	}
	return found
}

// decides tells whether what is ignored makes the difference between two
// revisions of a promotion.
func (i ignoring) decides(f Facts) bool {
	return i.covers("spec", "template", "metadata", "name") || i.covers("spec", "template", "spec", "containers", "*", "image") ||
		f.keeps(i, "spec", "template")
}

// argoManager is the field manager of Argo CD's syncs.
const argoManager = "argocd-controller"

// keeps tells whether a field is ignored because of its manager, and stays so.
// Any other manager than Argo CD loses it with the first sync that changes it,
// unless syncs keep what is ignored.
func (f Facts) keeps(i ignoring, path ...string) bool {
	return i.manager != "" && f.Service != nil && owns(f.Service.ManagedFields, i.manager, path...) &&
		(i.manager == argoManager || respects(f.Setup.App))
}

func (f Facts) ignoredFinding(i ignoring, what string) event.Finding {
	evidence := i.where + ": " + i.text
	if i.manager != "" {
		evidence += ", which owns it in the live Service's managedFields"
	}
	if respects(f.Setup.App) {
		evidence += "\nspec.syncPolicy.syncOptions has RespectIgnoreDifferences=true"
	}
	fix := "Take it away, in Git if that is where it comes from, or at once:\n" + i.remove
	if f.serverSide() && respects(f.Setup.App) {
		evidence += "\nspec.syncPolicy.syncOptions has ServerSideApply=true: Argo CD comes to own all that is ignored"
		fix = f.disown()
	}
	return event.Finding{Problem: fmt.Sprintf("Argo CD is told to ignore %s (%s)", what, i.text), Evidence: evidence, Fix: fix}
}

// findUnclear asks a person about what only jq could tell. Nothing that
// mentions neither a part of the spec nor the whole object can matter.
func findUnclear(f Facts) []event.Finding {
	var found []event.Finding
	for _, i := range f.ignored() {
		mentions := slices.ContainsFunc([]string{"spec", "..", "traffic", "template", "paths", "recurse"}, func(word string) bool {
			return strings.Contains(i.text, word)
		})
		if !i.unclear || !mentions {
			continue
		}
		finding := f.ignoredFinding(i, "a part of Service "+f.Request.Service)
		finding.Problem += ", and only jq can tell which"
		finding.Effect = "If it covers /spec/traffic, or with RespectIgnoreDifferences=true the template's name or images, promotions fail: Argo CD calls " +
			"their commits Synced without applying them."
		finding.Fix = "See what it would remove:\n" +
			fmt.Sprintf("kubectl -n %s get ksvc %s -o json | jq '. as $all | del(%s) | . == $all, .spec.traffic, .spec.template.metadata.name'", f.namespace(), f.Request.Service, i.text)
		found = append(found, finding)
	}
	return found
}

// findStatusNotIgnored is for those who miss what guides advise.
func findStatusNotIgnored(f Facts) []event.Finding {
	if f.Setup.App == nil || f.Setup.Overrides == nil {
		return nil
	}
	for _, i := range f.ignored() {
		if i.covers("status") || i.covers("metadata", "annotations", "serving.knative.dev/creator") {
			return nil
		}
	}
	return []event.Finding{{
		Problem: "Argo CD does not ignore /status and the annotations serving.knative.dev/creator and lastModifier",
		Effect: "None. Guides advise to ignore them, but what only the cluster sets is no difference for Argo CD. To ignore them together with " +
			"RespectIgnoreDifferences=true does harm: each sync then writes them into the Service's last-applied annotation, and once they are " +
			"not ignored any more Knative refuses every sync, because it lets nobody remove its annotations.",
		Evidence: "spec.ignoreDifferences of application " + f.application() + " and resource.customizations in argocd-cm",
		Fix:      "Nothing is to be done.",
	}}
}
