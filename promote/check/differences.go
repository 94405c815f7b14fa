package check

import (
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// differenceRules are about what Argo CD leaves out when it compares and syncs
// the Knative Service.
func differenceRules() []Rule {
	return []Rule{
		rule("traffic-ignored", findTrafficIgnored), rule("template-ignored", findTemplateIgnored),
		rule("ignored-unclear", findUnclear), rule("status-not-ignored", findStatusNotIgnored),
	}
}

func findTrafficIgnored(f Facts) []found {
	severity := max(event.SeverityWarning, errorIf(f.Request.Shifts))
	var all []found
	for _, i := range ignored(f) {
		if i.covers("spec", "traffic") || keeps(f, i, "spec", "traffic") {
			all = append(all, found{severity: severity, values: ignoredValues(f, i)})
		}
	}
	return all
}

func findTemplateIgnored(f Facts) []found {
	var all []found
	for _, i := range ignored(f) {
		if !i.covers("spec", "template") && !keeps(f, i, "spec", "template") {
			continue
		}
		v, kept := ignoredValues(f, i), respects(f.Setup.App)
		v["Decides"] = i.decides(f)
		all = append(all, found{severity: max(warningIf(kept), errorIf(kept && i.decides(f))), values: v})
	}
	return all
}

// decides tells whether what is ignored makes the difference between two
// revisions of a promotion.
func (i ignoring) decides(f Facts) bool {
	return i.covers("spec", "template", "metadata", "name") || i.covers("spec", "template", "spec", "containers", "*", "image") ||
		keeps(f, i, "spec", "template")
}

// argoManager is the field manager of Argo CD's syncs.
const argoManager = "argocd-controller"

// keeps tells whether a field is ignored because of its manager, and stays so.
// Any other manager than Argo CD loses it with the first sync that changes it,
// unless syncs keep what is ignored.
func keeps(f Facts, i ignoring, path ...string) bool {
	return i.manager != "" && f.Service != nil && owns(f.Service.ManagedFields, i.manager, path...) &&
		(i.manager == argoManager || respects(f.Setup.App))
}

// ignoredValues are what pages say an ignored difference with. What syncs keep
// server-side Argo CD comes to own, and taking the entry away is not enough.
func ignoredValues(f Facts, i ignoring) values {
	v := values{"Where": i.where, "Text": i.text, "Respects": respects(f.Setup.App), "Disown": ""}
	if serverSide(f) && respects(f.Setup.App) {
		v["Disown"] = disown(f)
	}
	if !i.unclear {
		v["Manager"], v["Remove"] = i.manager, i.remove
	}
	return v
}

func findUnclear(f Facts) []found {
	var all []found
	for _, i := range ignored(f) {
		mentions := slices.ContainsFunc([]string{"spec", "..", "traffic", "template", "paths", "recurse"}, func(word string) bool {
			return strings.Contains(i.text, word)
		})
		if i.unclear && mentions {
			all = append(all, found{values: ignoredValues(f, i)})
		}
	}
	return all
}

func findStatusNotIgnored(f Facts) []found {
	for _, i := range ignored(f) {
		if i.covers("status") || i.covers("metadata", "annotations", creator) {
			return nil
		}
	}
	return []found{{}}
}
