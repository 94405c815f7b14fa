package check

import (
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
)

// findPromotedBelow looks for a folder that the overlay builds on and into which promotions of the Service have written,
// or which is the overlay of an environment, and for an environment that builds on the overlay.
func findPromotedBelow(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	own := len(f.Overlay.Record()) > 0
	is, _ := f.Pipeline.File.Of(f.Request.Overlay, f.Request.Service) // of none where that is not clear
	below := func(overlay string) []string { return kustomize.Below(f.Tree, overlay) }
	for _, folder := range below(f.Request.Overlay) {
		record, err := knative.ReadRecord(f.Tree, folder, f.Request.Service)
		rules, _ := f.Pipeline.File.Of(folder, f.Request.Service)
		if rules.Known() || err == nil && len(record) > 0 {
			all = append(all, found{severity: errorIf(rules.Known() && is.Known()), at: f.inKustomization("resources"), values: values{
				"Above": f.Request.Overlay, "Below": folder, "Environment": rules.Environment, "Own": own,
			}})
		}
	}
	if !is.Known() {
		return all
	}
	for _, environment := range f.Pipeline.File.Above(f.Request.Overlay, is.Service, below) {
		all = append(all, found{severity: event.SeverityError, values: values{
			"Above": f.Pipeline.File.Path(is.Service, environment), "Below": f.Request.Overlay, "Environment": is.Environment, "Own": false,
		}})
	}
	return all
}
