package check

import (
	"io/fs"
	"path"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// findConverted looks for manifests of the overlay, and of what it builds on, that git checks out as something else.
func findConverted(f Facts) []found {
	if f.Tree == nil || f.Request.Overlay == "" {
		return nil
	}
	var all []found
	for _, folder := range append([]string{f.Request.Overlay}, kustomize.Below(f.Tree, f.Request.Overlay)...) {
		entries, err := fs.ReadDir(f.Tree, folder)
		if err != nil {
			continue // which the render says
		}
		attributeOf := gitops.Converts(f.Tree, folder)
		for _, entry := range entries {
			file, attribute := path.Join(folder, entry.Name()), attributeOf(entry.Name())
			if attribute != "" && isManifest(entry.Name()) {
				all = append(all, found{at: place{file, 1}, values: values{"Name": file, "Attribute": attribute}})
			}
		}
	}
	return all
}

// isManifest tells whether kustomize may read a file of this name as YAML.
func isManifest(name string) bool {
	return name == "Kustomization" || slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(name))
}
