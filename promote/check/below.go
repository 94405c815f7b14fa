package check

import (
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// findPromotedBelow looks for what promotions of the Service have written into a folder that
// the overlay builds on.
func findPromotedBelow(f Facts) []found {
	if f.Tree == nil {
		return nil
	}
	var all []found
	for _, folder := range kustomize.Below(f.Tree, f.Request.Overlay) {
		record, err := knative.ReadRecord(f.Tree, folder, f.Request.Service)
		if err != nil || len(record) == 0 {
			continue
		}
		all = append(all, found{at: f.inKustomization("resources"), values: values{"Below": folder, "Own": len(f.Overlay.Record()) > 0}})
	}
	return all
}
