package kustomize

import (
	"context"
	"fmt"
	"io/fs"
	"path"
)

// Room returns an error where an overlay that renders takes more than half of what a render may. Of two pull requests each
// may be looked at before the other is merged: where each leaves as much room as it takes, both together render.
func Room(ctx context.Context, tree fs.FS, dir string) error {
	r, err := render(ctx, tree, path.Clean(dir)) // which was done before, so it is remembered
	if err != nil {
		return &renderError{dir, err}
	}
	for _, f := range r.held {
		if f.has > f.most/2 {
			return &renderError{dir, fmt.Errorf("it has %d %s; at most %d are let pass, half of what a run renders, as another change may bring as much: split the overlay", f.has, f.what, f.most/2)}
		}
	}
	return nil
}

// A figure is how much an overlay has of something, and may have.
type figure struct {
	has, most int
	what      string
}

func (b *budget) figures() []figure {
	return []figure{
		{b.crowd.objects, maxObjects, "objects, patches and entries that change them"},
		{b.crowd.passed, maxPassed, "objects, counted in each folder that takes them over"},
		{b.crowd.changes(), maxChanges, "changes by operations and replacements, each counted for every object"},
		{b.nodes, maxNodes, "values"},
		{b.looks(), maxLooks, "values, each counted for every entry of images"},
		{b.indicators, maxIndicators, "characters in one file that may begin a value"},
		{b.depth, maxDepth, "levels of nesting in one document"},
	}
}

func (a amount) figures() []figure {
	return []figure{
		{a.Largest, maxFileSize, "bytes in one file"},
		{a.Bytes, maxTotalSize, "bytes in all its files"},
		{a.Reads, maxReads, "files, each counted as often as it is read"},
	}
}
