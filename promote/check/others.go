package check

import (
	"slices"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// findOthers leaves those to findOwners that deploy the very same Service.
func findOthers(f Facts) []found {
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
	unnamed, patch := f.Overlay.Revision() == "", ""
	if unnamed {
		patch = f.patch(change{Op: "add", Path: jsonpointer.Join("spec", "template", "metadata", "name"), Value: f.Request.Service + "-first"})
	}
	return []found{{severity: errorIf(!f.Request.OnlyThis || unnamed), values: values{
		"Overlay": f.Request.Overlay, "Names": names, "Others": len(others), "Unnamed": unnamed, "Patch": patch,
	}}}
}
