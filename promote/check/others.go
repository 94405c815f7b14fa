package check

import (
	"fmt"
	"slices"

	"github.com/acme/knative-promote/argo"
)

// findOthers leaves those to findOwners that deploy the very same Service.
func findOthers(f Facts) []found {
	others := f.others()
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
	return []found{{severity: errorIf(!f.Request.OnlyThis), values: values{"Overlay": f.Request.Overlay, "Names": names, "Others": len(others)}}}
}

// others are the Applications that deploy the overlay to another place.
func (f Facts) others() []argo.App {
	return slices.DeleteFunc(slices.Clone(f.Setup.Others), func(app argo.App) bool { return slices.Contains(f.Setup.Owners, app) })
}

// findUnnamed looks for a template whose revisions Knative would name in each of several places.
func findUnnamed(f Facts) []found {
	if !f.Request.OnlyThis || f.Overlay.Revision() != "" || len(f.others()) == 0 {
		return nil
	}
	name := f.Request.Service + "-first"
	return []found{{at: f.inService("spec", "template"), values: values{"Patch": f.patchEntry(fmt.Appendf(nil,
		"apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: %s\nspec:\n  template:\n    metadata:\n      name: %s\n", f.Request.Service, name))}}}
}
