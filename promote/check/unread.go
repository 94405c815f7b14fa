package check

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// unreadRules are about what the check itself could not see, so that what
// was not seen never counts as good.
func unreadRules() []Rule {
	return []Rule{
		{
			ID: "application-unreadable", Severity: event.SeverityError, Find: findNoApp,
			Summary: "Argo CD cannot be asked, or the Application does not exist, or not for the Argo CD token",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/",
		},
		{
			ID: "not-looked-at", Severity: event.SeverityInfo, Find: findUnread,
			Summary: "something could not be read, so troubles there are not found",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/",
		},
	}
}

func findNoApp(f Facts) []event.Finding {
	if f.NoApp == nil {
		return nil
	}
	app := f.Request.App
	fix := "Check the inputs application, project and argocd-token. The token's role needs, in the project's roles or in argocd-rbac-cm:\n" +
		fmt.Sprintf("p, ROLE, applications, get, %s, allow", policyObject(app, f.Setup))
	if !errors.Is(f.NoApp, argo.ErrNotFound) && !errors.Is(f.NoApp, argo.ErrAuth) {
		fix = "Check the inputs argocd-server, argocd-ca, argocd-root-path and argocd-headers, and whether Argo CD can be reached from where this runs."
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("Application %s cannot be read", app),
		Effect:   "A promotion ends before its first commit, because it could never see one live.",
		Evidence: f.NoApp.Error(), Fix: fix,
	}}
}

// policyObject is the Application as Argo CD's policies name it.
func policyObject(app argo.App, setup argo.Setup) string {
	project := app.Project
	if setup.App != nil {
		project = setup.App.Spec.GetProject()
	}
	if project == "" {
		project = "PROJECT"
	}
	if app.Namespace != "" && app.Namespace != "argocd" {
		return project + "/" + app.Namespace + "/" + app.Name
	}
	return project + "/" + app.Name
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

func findUnread(f Facts) []event.Finding {
	var found []event.Finding
	for _, name := range slices.Sorted(maps.Keys(f.Unread)) {
		found = append(found, unread(name, "", f.Unread[name]))
	}
	for _, part := range slices.Sorted(maps.Keys(f.Setup.Unread)) {
		err, fix := f.Setup.Unread[part], ""
		if part == argo.SectionProject && f.Setup.App != nil && errors.Is(err, argo.ErrAuth) {
			fix = "To have it checked too, let the token's role read it, in argocd-rbac-cm:\n" + fmt.Sprintf("p, ROLE, projects, get, %s, allow", f.Setup.App.Spec.GetProject())
		}
		found = append(found, unread(cmp.Or(partNames[part], string(part)), fix, err))
	}
	return found
}

func unread(name, fix string, err error) event.Finding {
	return event.Finding{
		Problem:  "could not look at " + name,
		Effect:   "What may be wrong there was not found. It does not stop a promotion.",
		Evidence: err.Error(),
		Fix:      fix,
	}
}
