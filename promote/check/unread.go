package check

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/acme/knative-promote/argo"
)

// unreadRules are about what the check itself could not see, so that what
// was not seen never counts as good.
func unreadRules() []Rule {
	return []Rule{rule("application-unreadable", findNoApp), rule("not-looked-at", findUnread)}
}

func findNoApp(f Facts) []found {
	if f.NoApp == nil {
		return nil
	}
	answered := errors.Is(f.NoApp, argo.ErrNotFound) || errors.Is(f.NoApp, argo.ErrAuth)
	return []found{{values: values{"App": f.Request.App, "Why": f.NoApp, "Answered": answered}}}
}

// policyObject is the Application as Argo CD's policies name it.
func policyObject(f Facts) string {
	app, project := f.Request.App, f.Request.App.Project
	if f.Setup.App != nil {
		project = f.Setup.App.Spec.GetProject()
	}
	object := cmp.Or(project, "PROJECT") + "/"
	if app.Namespace != "" && app.Namespace != "argocd" {
		object += app.Namespace + "/"
	}
	return object + f.application()
}

// partNames are what people call the parts of a Setup.
var partNames = map[argo.Section]string{
	argo.SectionVersion:   "Argo CD's version",
	argo.SectionProject:   "the Application's project",
	argo.SectionWindows:   "the sync windows",
	argo.SectionOverrides: "the resource customizations of argocd-cm",
	argo.SectionOwners:    "the other Applications",
	argo.SectionOthers:    "the other Applications of the overlay",
	argo.SectionRights:    "what the token may do",
	argo.SectionAnonymous: "whose token it is",
}

func findUnread(f Facts) []found {
	var all []found
	for _, name := range slices.Sorted(maps.Keys(f.Unread)) {
		all = append(all, found{values: values{"What": name, "Why": f.Unread[name], "ProjectRole": false}})
	}
	for _, part := range slices.Sorted(maps.Keys(f.Setup.Unread)) {
		err := f.Setup.Unread[part]
		all = append(all, found{values: values{
			"What": cmp.Or(partNames[part], string(part)), "Why": err,
			"ProjectRole": part == argo.SectionProject && f.Setup.App != nil && errors.Is(err, argo.ErrAuth),
		}})
	}
	return all
}
