package kustomize

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/utils"

	"github.com/acme/knative-promote/internal/oneline"
)

// Version is the version of kustomize whose code Render runs. Argo CD brings its own, such as 5.4.3 or 5.8.1.
const Version = "5.7.1"

// A Difference is something in an overlay that Render and other versions of kustomize render otherwise, or that one of
// them refuses.
type Difference struct {
	File    string // in which it stands
	What    string // what it is, and how it is read before and since
	Since   string // the version that was the first to read it as it is read now
	Instead string // how to write it so that all render the same
}

// The versions whose readings differ from those before:
// https://github.com/kubernetes-sigs/kustomize/releases
const (
	since55 = "5.5.0"
	since57 = "5.7.0"
	since58 = "5.8.0"
)

// Differences returns what in the overlay in the folder dir of tree, with all that it builds on, the versions of kustomize
// from 5.4.3 to 5.8.1 read otherwise. The version in the label of buildMetadata: [managedByLabel] and the order of the
// objects are left out: they change nothing that is deployed.
func Differences(ctx context.Context, tree fs.FS, dir string) ([]Difference, error) {
	d := &differing{nulls: map[string]bool{}}
	for _, d.again = range []bool{false, true} {
		i := &inspector{confined: &confined{ctx: ctx, tree: tree, files: map[string][]byte{}}, differing: d}
		if err := i.folder(path.Clean(dir)); err != nil {
			return nil, &renderError{dir, err}
		}
		if len(d.dotted) == 0 {
			break
		}
	}
	d.again = false
	if err := d.imageVolumes(ctx); err != nil {
		return nil, err
	}
	d.belowNull()
	d.dottedSelectors()
	slices.SortStableFunc(d.found, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.What, b.What)) })
	return slices.Compact(d.found), nil
}

// differing gathers the Differences of an overlay while it is inspected. Nil gathers nothing.
type differing struct {
	found    []Difference
	again    bool     // the files are gone through once more, for the dotted selectors
	dotted   []dotted // selectors that may select other objects as regular expressions
	looks    int      // at a value for one of these
	unsure   bool     // there were too many to look further, so each may
	renames  bool     // names are put together, so that not all stand in a file
	images   []imageEntry
	volumes  []imageVolume
	replaced []replacedField
	nulls    map[string]bool // keys that have no value somewhere
}

// replacedField is a field path of a replacement's target in a file.
type replacedField struct{ file, path string }

// add adds a Difference, once.
func (d *differing) add(file, since, instead, format string, args ...any) {
	if !d.again {
		d.found = append(d.found, Difference{File: file, What: fmt.Sprintf(format, args...), Since: since, Instead: instead})
	}
}

// imageEntry is an entry of images in a file, imageVolume a volume that is filled from an image.
type (
	imageEntry struct {
		file string
		Image
	}
	imageVolume struct{ file, reference string }
)

// imageVolumes finds those that entries of images set since 5.7.
func (d *differing) imageVolumes(ctx context.Context) error {
	for _, i := range d.images {
		pattern, err := i.pattern()
		for _, v := range d.volumes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if v.reference != "" && (err != nil || !pattern.MatchString(v.reference)) {
				continue
			}
			d.add(v.file, since57, "Name the volume's image by another name than an entry of images has, or set it with a patch",
				"the entry %q of images in %s sets the image of a volume too since kustomize 5.7, which it left as it was before", i.Name, i.file)
		}
	}
	return nil
}

// belowNull finds fields that are replaced below a key which may have no value.
func (d *differing) belowNull() {
	for _, c := range d.replaced {
		parts := utils.SmarterPathSplitter(c.path, ".")
		for _, part := range parts[:max(len(parts)-1, 0)] {
			if d.nulls[part] {
				d.add(c.file, since58, "Give the field a value in the object, such as {}",
					"the replacement of %q is of a field below %s, which is null somewhere: kustomize before 5.8 passes over that, and since fails", oneline.Brief(c.path), oneline.Brief(part))
			}
		}
	}
}
