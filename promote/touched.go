package promote

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// kustomization is what of a kustomization file leads to other folders.
type kustomization struct {
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`
}

// Touched lists the overlays of a tree whose render may depend on one of the
// changed files: the ones that hold it or build on a folder that does. Bases
// and components that an overlay uses are not listed themselves.
func Touched(tree fs.FS, changed []string) ([]string, error) {
	uses, used, err := kustomizations(tree)
	if err != nil {
		return nil, err
	}
	for _, folders := range uses {
		for _, folder := range folders {
			used[folder] = true
		}
	}
	var touched []string
	for _, overlay := range slices.Sorted(maps.Keys(uses)) {
		if !used[overlay] && touches(uses, overlay, changed, map[string]bool{}) {
			touched = append(touched, overlay)
		}
	}
	return touched, nil
}

// kustomizations maps every folder with a kustomization to the folders that
// it builds on. Components are told apart: they are no overlays by themselves.
func kustomizations(tree fs.FS) (uses map[string][]string, components map[string]bool, err error) {
	uses, components = map[string][]string{}, map[string]bool{}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() {
			return nil
		}
		if entry.Name() == ".git" {
			return fs.SkipDir
		}
		file, err := kustomize.File(tree, name)
		if err != nil { // not an overlay
			return nil
		}
		content, err := fs.ReadFile(tree, path.Join(name, file))
		if err != nil {
			return err
		}
		var k kustomization
		if yaml.Unmarshal(content, &k) != nil { // rendering it will say what is wrong
			k = kustomization{}
		}
		uses[name] = k.folders(name)
		if k.Kind == "Component" {
			components[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("looking for overlays: %w", err)
	}
	return uses, components, nil
}

// folders are the places in the tree that a kustomization reads, beside its
// own folder.
func (k kustomization) folders(dir string) []string {
	var folders []string
	for _, entry := range slices.Concat(k.Resources, k.Bases, k.Components) {
		if strings.Contains(entry, "://") {
			continue
		}
		if folder := path.Join(dir, entry); fs.ValidPath(folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// touches tells whether a folder or one that it builds on holds a changed
// file. Seen ends the walk of a cycle.
func touches(uses map[string][]string, folder string, changed []string, seen map[string]bool) bool {
	if seen[folder] {
		return false
	}
	seen[folder] = true
	for _, file := range changed {
		if file == folder || folder == "." || strings.HasPrefix(file, folder+"/") {
			return true
		}
	}
	return slices.ContainsFunc(uses[folder], func(next string) bool { return touches(uses, next, changed, seen) })
}
