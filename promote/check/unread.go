package check

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/acme/knative-promote/argo"
)

// unreadRules are about what the check itself could not see, so that silence
// never passes for good news.
func unreadRules() []Rule {
	return []Rule{
		{
			ID: "application-unreadable", Severity: Error, Find: findNoApp,
			Summary: "the Application does not exist, or not for the Argo CD token",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/",
		},
		{
			ID: "not-looked-at", Severity: Info, Find: findUnread,
			Summary: "something could not be read, so troubles there are not found",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/rbac/",
		},
	}
}

func findNoApp(f Facts) []Finding {
	if f.NoApp == nil {
		return nil
	}
	app := f.Request.App
	return []Finding{{
		Problem:  fmt.Sprintf("Application %s cannot be read", app),
		Effect:   "A promotion ends before its first commit, because it could never see one live.",
		Evidence: f.NoApp.Error(),
		Fix: "Check the inputs application, project and argocd-token. The token's role needs, in the project's roles or in argocd-rbac-cm:\n" +
			fmt.Sprintf("p, ROLE, applications, get, %s, allow", policyObject(app, f.Setup)),
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

// unreadable are the parts of argo.Setup that may not be read: what people
// call them, and what the token would have to be allowed.
var unreadable = map[string]struct{ name, right string }{
	"Version":   {"Argo CD's version", ""},
	"Project":   {"the Application's project", "p, ROLE, projects, get, %s, allow"},
	"Windows":   {"the sync windows", ""},
	"Overrides": {"the resource customizations of argocd-cm", ""},
	"Owners":    {"the other Applications", ""},
	"Can":       {"what the token may do", ""},
	"Anonymous": {"whose token it is", ""},
	"Expires":   {"when the token expires", ""},
}

func findUnread(f Facts) []Finding {
	var found []Finding
	for _, name := range slices.Sorted(maps.Keys(f.Unread)) {
		found = append(found, unread(name, "", f.Unread[name]))
	}
	for _, field := range slices.Sorted(maps.Keys(f.Setup.Unread)) {
		part, err := unreadable[field], f.Setup.Unread[field]
		if part.name == "" {
			part.name = field
		}
		fix := ""
		if part.right != "" && f.Setup.App != nil && errors.Is(err, argo.ErrAuth) {
			fix = "To have it checked too, let the token's role read it, in argocd-rbac-cm:\n" + fmt.Sprintf(part.right, f.Setup.App.Spec.GetProject())
		}
		found = append(found, unread(part.name, fix, err))
	}
	return found
}

func unread(name, fix string, err error) Finding {
	return Finding{
		Problem:  "could not look at " + name,
		Effect:   "What may be wrong there was not found. It does not stop a promotion.",
		Evidence: err.Error(),
		Fix:      fix,
	}
}
