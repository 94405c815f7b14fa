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
// Kustomization. There must be exactly one.
func File(tree fs.FS, dir string) (string, error) {
	var found []string
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		switch _, err := fs.Lstat(tree, path.Join(dir, name)); {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("looking for the kustomization of %s: %w", dir, err)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("looking for the kustomization of %s: %w: expected %s%s", dir, fs.ErrNotExist,
			strings.Join(konfig.RecognizedKustomizationFileNames(), ", "), instead(tree, dir))
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("looking for the kustomization of %s: found %s; kustomize wants exactly one, remove the others",
		dir, strings.Join(found, " and "))
}
