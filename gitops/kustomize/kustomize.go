// Package kustomize edits and renders the overlays of an infra repository.
//
// The edits have the semantics of `kustomize edit`, but work on the bytes of the kustomization: only the entry that is
// set changes, and comments, order, indentation and line ends stay. kustomize itself writes the whole file anew
// (https://github.com/kubernetes-sigs/kustomize/issues/4481). What cannot be edited so that everything else reads as
// before is refused with an error that says where.
//
// Render runs kustomize's own code over a file system that ends at the repository's root, without network access and
// without starting a process.
package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
)

// Folder returns the folder of tree that dir is with its symbolic links followed.
func Folder(tree fs.FS, dir string) (string, error) {
	c := confined{ctx: context.Background(), tree: tree}
	at, _, err := c.follow(dir)
	return at, err
}

// instead says what to do with a folder that has something else than a kustomization.
func instead(tree fs.FS, dir string) string {
	const most = 5
	entries, err := fs.ReadDir(tree, path.Clean(dir))
	if err != nil {
		return ""
	}
	var manifests []string
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == "Chart.yaml":
			return "; it is a Helm chart: commit what the chart renders to, in a folder with a kustomization that names it in resources"
		case !entry.IsDir() && (path.Ext(name) == ".yaml" || path.Ext(name) == ".yml") && !strings.HasPrefix(name, "."):
			manifests = append(manifests, name)
		}
	}
	switch {
	case len(manifests) == 0:
		return ""
	case len(manifests) > most:
		manifests = append(manifests[:most], "…")
	}
	return fmt.Sprintf("; it has manifests without one: add kustomization.yaml with resources: [%s]", strings.Join(manifests, ", "))
}

// File returns the name of the kustomization in the folder dir of tree: kustomization.yaml, kustomization.yml or
// Kustomization. There must be exactly one. As kustomize does it passes over what is no file, and leads to none, beside the
// one that is. fs.ErrNotExist is the error of a folder that has nothing of these names; any other one says why an
// overlay that somebody may have meant is none.
func File(tree fs.FS, dir string) (string, error) {
	var found, others []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		switch what, err := standsFor(tree, path.Join(dir, name)); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return "", fmt.Errorf("looking for the kustomization of %s: %w", dir, err)
		case what == "":
			found = append(found, name)
		default:
			others = append(others, name+" "+what)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", fmt.Errorf("looking for the kustomization of %s: found %s; kustomize wants exactly one, remove the others",
			dir, strings.Join(found, " and "))
	case len(others) > 0:
		return "", fmt.Errorf("looking for the kustomization of %s: expected a file, and %s", dir, strings.Join(others, ", "))
	}
	return "", fmt.Errorf("looking for the kustomization of %s: %w: expected %s%s", dir, fs.ErrNotExist,
		strings.Join(konfig.RecognizedKustomizationFileNames(), ", "), instead(tree, dir))
}

// standsFor says of what stands in the place of a kustomization why kustomize passes over it; empty: it is a file, or leads
// to one. fs.ErrNotExist: nothing stands there.
func standsFor(tree fs.FS, name string) (string, error) {
	info, err := fs.Lstat(tree, name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		c := confined{ctx: context.Background(), tree: tree}
		if _, info, err = c.follow(name); errors.Is(err, fs.ErrNotExist) {
			return "is a symbolic link that leads to nothing", nil
		}
	}
	switch {
	case err != nil:
		return "", err
	case info.IsDir():
		return "is a folder", nil
	}
	return "", nil
}

// meant tells whether a folder has a kustomization, or something in its place that is none.
func meant(tree fs.FS, dir string) bool {
	_, err := File(tree, dir)
	return !errors.Is(err, fs.ErrNotExist)
}
