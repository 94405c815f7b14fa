package knative

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"sigs.k8s.io/kustomize/api/types"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// ReadBroken is [Read], and of an overlay that does not render without the tool's own files of the Service, which the edits
// write anew: somebody has deleted one, or left a conflict in it. What was wrong is Broken then. The error is that of Read,
// where it does not render without them either.
func ReadBroken(ctx context.Context, tree fs.FS, overlay, service string) (*State, error) {
	state, err := Read(ctx, tree, overlay, service)
	if err == nil || ctx.Err() != nil {
		return state, err
	}
	without, failed := readWithoutOwn(ctx, tree, overlay, service)
	if failed != nil {
		return nil, err
	}
	without.Broken = err
	return without, nil
}

// readWithoutOwn reads an overlay without the tool's own files of a Service; with an empty name of the only one that has
// such files.
func readWithoutOwn(ctx context.Context, tree fs.FS, overlay, service string) (*State, error) {
	if folder, err := kustomize.Folder(tree, overlay); err != nil || folder != path.Clean(overlay) {
		return nil, fmt.Errorf("overlay %s: expected a folder that no symbolic link leads to", overlay)
	}
	file, kustomization, err := kustomizationOf(tree, overlay)
	if err != nil {
		return nil, err
	}
	listed, err := kustomize.Read(tree, overlay)
	if err != nil {
		return nil, err
	}
	if service == "" {
		service = promotedIn(listed)
	}
	own := []string{path.Base(ownPath(overlay, service, routeSuffix)), path.Base(ownPath(overlay, service, defaultsSuffix))}
	without, err := kustomize.RemovePatch(kustomization, own...)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{file: without}
	for _, name := range own {
		files[path.Join(overlay, name)] = nil
	}
	return withFiles(ctx, &State{Overlay: overlay, tree: tree, name: service}, files)
}

// promotedIn is the Service that the tool's own files in an overlay's patches are of; empty: they are of several.
func promotedIn(listed types.Kustomization) string {
	var services []string
	for _, patch := range listed.Patches {
		if service := OwnedBy(patch.Path); service != "" && !slices.Contains(services, service) {
			services = append(services, service)
		}
	}
	if len(services) != 1 {
		return ""
	}
	return services[0]
}
