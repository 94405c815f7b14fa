package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// findOthers leaves those to findOwners that deploy the very same Service.
func findOthers(f Facts) []event.Finding {
	if f.Setup.App == nil {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(f.Setup.Others), func(app argo.App) bool { return slices.Contains(f.Setup.Owners, app) })
	if len(others) == 0 {
		return nil
	}
	const most = 10
	var names []string
	for _, app := range others[:min(len(others), most)] {
		names = append(names, app.String())
	}
	if more := len(others) - most; more > 0 {
		names = append(names, count(more, "more"))
	}
	finding := event.Finding{
		Problem: fmt.Sprintf("Application %s is not the only one of overlay %s: %s", f.application(), f.Request.Overlay, strings.Join(names, ", ")),
		Effect: "Each commit of the promotion goes to all of them, and the gates look at one. Elsewhere a step is synced when Argo CD gets to it, " +
			"perhaps with the next one, and nobody sees it fail. What the traffic names may not exist there: a revision has the name that Knative gave it in one place.",
		Evidence: fmt.Sprintf("Argo CD's list of the Applications that the token sees: %s", count(len(others), "other")),
		Fix: "Give each of them an overlay of its own, on one base, and promote them one after the other. " +
			"To promote all by what this one shows, set the input only-this-application to true.",
	}
	if !f.Request.OnlyThis {
		finding.Severity = event.SeverityError
	}
	return []event.Finding{finding}
}
