package check

import (
	"path"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/event"
)

// findPromotedBelow looks for a folder that the overlay builds on or reads files of, and into which promotions have written,
// or which is the overlay of an environment, and for an environment that builds on the overlay.
func findPromotedBelow(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	own := len(f.Overlay.Record()) > 0
	is, _ := f.Pipeline.File.Of(f.Request.Overlay, f.Request.Service) // of none where that is not clear
	below := func(overlay string) []string { return kustomize.Below(f.Tree, overlay) }
	folders := below(f.Request.Overlay)
	for _, file := range f.Reads {
		folders = append(folders, path.Dir(file))
	}
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		rules, _ := f.Pipeline.File.Of(folder, f.Request.Service)
		if folder != path.Clean(f.Request.Overlay) && (rules.Known() || knative.HasRuns(f.Tree, folder)) {
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
