package proposed

import (
	"context"
	"io/fs"
	"slices"

	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/manifest"
)

// sources are those of the changed files that an overlay is rendered from, at one commit or the other, and that say something
// else. What cannot be rendered is rendered from nothing. A file that a generator reads as it is says something else with another comment.
func (c comparison) sources(ctx context.Context, overlay string, changed []string) []string {
	before, _ := kustomize.Asked(ctx, c.base.Tree, overlay) // it may be new
	after, _ := kustomize.Asked(ctx, c.head.Tree, overlay)  // why it does not render is said elsewhere
	rawBefore, _ := kustomize.Raw(ctx, c.base.Tree, overlay)
	rawAfter, _ := kustomize.Raw(ctx, c.head.Tree, overlay)
	raw := append(rawBefore, rawAfter...)
	var all []string
	for _, file := range changed {
		_, was := slices.BinarySearch(before, file)
		_, is := slices.BinarySearch(after, file)
		if (was || is) && (slices.Contains(raw, file) || !sameYAML(c.base.Tree, c.head.Tree, file)) {
			all = append(all, file)
		}
	}
	return all
}

// sameYAML tells whether a file is the same YAML in two trees. What is no file in one of them, or a symbolic link, is not.
func sameYAML(before, after fs.FS, file string) bool {
	var texts [][]byte
	for _, tree := range []fs.FS{before, after} {
		info, err := fs.Lstat(tree, file)
		if err != nil || !info.Mode().IsRegular() {
			return false
		}
		text, err := fs.ReadFile(tree, file)
		if err != nil {
			return false
		}
		texts = append(texts, text)
	}
	return manifest.SaysTheSame(texts[0], texts[1])
}
