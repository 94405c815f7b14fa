package kustomize

import (
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
)

// Below are the folders that an overlay builds on, as far as they can be read, and the one that it is a link to: where
// they really are.
func Below(tree fs.FS, overlay string) []string {
	in, reached := newFolders(), map[string]bool{}
	links := confined{ctx: context.Background(), tree: tree}
	var read func(name string)
	read = func(name string) {
		folder, _, err := links.follow(name)
		if err != nil || reached[folder] || in.addFolder(tree, folder) != nil {
			return
		}
		reached[folder] = true
		for _, next := range in.uses[folder] {
			read(next)
		}
	}
	overlay = path.Clean(overlay)
	read(overlay)
	delete(reached, overlay)
	return slices.Sorted(maps.Keys(reached))
}
