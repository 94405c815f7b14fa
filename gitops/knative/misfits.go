package knative

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// Render renders an overlay as `kustomize build` does, but without those files of
// defaults with which it does not render. These are the misfits, by name.
func Render(ctx context.Context, tree fs.FS, overlay string) (manifest []byte, misfits []string, err error) {
	manifest, err = kustomize.Render(ctx, tree, overlay)
	if err == nil {
		return manifest, nil, nil
	}
	files, misfits := withoutMisfits(ctx, tree, overlay)
	if len(misfits) == 0 {
		return nil, nil, err
	}
	manifest, err = kustomize.Render(ctx, edited{FS: tree, files: files}, overlay)
	return manifest, misfits, err
}

// WithoutOwn renders an overlay without the tool's own files of these Services, which hide what is in their place below them until the
// next promotion writes them anew. It is nil where there are none. Where something else needs what they bring, that is the error, beside
// what renders without those of defaults alone.
func WithoutOwn(ctx context.Context, tree fs.FS, overlay string, services []string) (manifest []byte, err error) {
	file, kustomization, err := kustomizationOf(tree, overlay)
	if err != nil {
		return nil, nil // it is not there
	}
	var own, defaults []string
	for _, service := range services {
		own = append(own, ownPrefix+service+routeSuffix, ownPrefix+service+defaultsSuffix)
		defaults = append(defaults, ownPrefix+service+defaultsSuffix)
	}
	render := func(names []string) ([]byte, error) {
		without, err := kustomize.RemovePatch(kustomization, names...)
		if err != nil || bytes.Equal(without, kustomization) {
			return nil, err
		}
		return kustomize.Render(ctx, edited{FS: tree, files: map[string][]byte{file: without}}, overlay)
	}
	if manifest, err = render(own); err != nil {
		manifest, _ = render(defaults)
	}
	return manifest, err
}

// HasRuns tells whether runs have written files of an overlay.
func HasRuns(tree fs.FS, overlay string) bool {
	return slices.ContainsFunc(calledOwn(tree, overlay), func(name string) bool {
		content, err := fs.ReadFile(tree, path.Join(overlay, name))
		_, below := splitAbove(content)
		return err == nil && bytes.HasPrefix(below, []byte(written))
	})
}

// calledOwn names the patches of an overlay that are called as the tool's own files are, whoever has written them.
func calledOwn(tree fs.FS, overlay string) (names []string) {
	listed, err := kustomize.Read(tree, overlay)
	if err != nil {
		return nil
	}
	for _, patch := range listed.Patches {
		if name := path.Clean(patch.Path); strings.HasPrefix(name, ownPrefix) {
			names = append(names, name)
		}
	}
	return names
}

// DescribeMisfits says what is wrong with the misfits, and who corrects that.
func DescribeMisfits(misfits []string) string {
	return fmt.Sprintf("%s is gone or no longer fits the template: kustomize cannot apply it, nor can Argo CD; the next commit of `prepare`, a promotion or a rollback corrects that",
		strings.Join(misfits, " and "))
}

// withoutMisfits are the edits of an overlay that does not render which take out
// those files of defaults that keep it from that: somebody has taken out of the
// template what they add to. There are none where it does not render without all of
// these either, or where one has what the tool has not written.
func withoutMisfits(ctx context.Context, tree fs.FS, overlay string) (files map[string][]byte, misfits []string) {
	file, kustomization, err := kustomizationOf(tree, overlay)
	if err != nil {
		return nil, nil
	}
	without := func(names []string) (files map[string][]byte, renders bool) {
		fewer, err := kustomize.RemovePatch(kustomization, names...)
		if err != nil {
			return nil, false
		}
		files = map[string][]byte{file: fewer}
		for _, name := range names {
			files[path.Join(overlay, name)] = nil
		}
		_, err = kustomize.Render(ctx, edited{FS: tree, files: files}, overlay)
		return files, err == nil
	}
	misfits = defaultsFiles(tree, overlay)
	files, renders := without(misfits)
	if !renders {
		return nil, nil
	}
	for _, name := range slices.Clone(misfits) { // what need not go stays
		fewer := slices.DeleteFunc(slices.Clone(misfits), func(other string) bool { return other == name })
		if kept, renders := without(fewer); renders {
			files, misfits = kept, fewer
		}
	}
	return files, misfits
}

// defaultsFiles names the files of defaults that an overlay lists, whatever Service they are
// of, that have nothing that the tool has not written. One that somebody has deleted is
// among them.
func defaultsFiles(tree fs.FS, overlay string) []string {
	return slices.DeleteFunc(calledOwn(tree, overlay), func(name string) bool {
		if !strings.HasSuffix(name, defaultsSuffix) {
			return true
		}
		content, err := fs.ReadFile(tree, path.Join(overlay, name))
		_, foreign := parseDefaults(name, content)
		return !errors.Is(err, fs.ErrNotExist) && (err != nil || foreign != nil)
	})
}
