package kustomize

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxKustomization is the size up to which a kustomization is looked into, in
// bytes.
const maxKustomization = 1 << 20

// links are the fields of a kustomization that lead to other folders. They are
// read without kustomize's own reader, which takes nothing from a file with one
// unknown field: which overlays to render shows before it is known that they do.
type links struct {
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`
}

// Touched lists the overlays of a tree whose render may depend on one of the
// changed files: the ones that hold it or build on a folder that does. Bases
// and components that an overlay uses are not listed themselves.
func Touched(tree fs.FS, changed []string) ([]string, error) {
	uses, components, err := kustomizations(tree)
	if err != nil {
		return nil, err
	}
	var touched []string
	for _, overlay := range overlays(uses, components) {
		if touches(uses, overlay, changed) {
			touched = append(touched, overlay)
		}
	}
	return touched, nil
}

// Overlays lists all overlays of a tree, as Touched does.
func Overlays(tree fs.FS) ([]string, error) {
	uses, components, err := kustomizations(tree)
	return overlays(uses, components), err
}

// overlays are the folders that no other one builds on, and one of each cycle,
// whose render will say what is wrong.
func overlays(uses map[string][]string, components map[string]bool) []string {
	used := maps.Clone(components)
	for folder, next := range uses {
		for _, n := range next {
			used[n] = used[n] || n != folder
		}
	}
	var all []string
	reached := map[string]bool{}
	for _, spared := range []map[string]bool{used, components} {
		for _, folder := range slices.Sorted(maps.Keys(uses)) {
			if !spared[folder] && !reached[folder] {
				all = append(all, folder)
				reach(uses, folder, reached)
			}
		}
	}
	slices.Sort(all)
	return all
}

// reach adds a folder and all that it builds on.
func reach(uses map[string][]string, folder string, reached map[string]bool) {
	if reached[folder] {
		return
	}
	reached[folder] = true
	for _, next := range uses[folder] {
		reach(uses, next, reached)
	}
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
		file, err := File(tree, name)
		if err != nil { // not an overlay
			return nil
		}
		l, err := readLinks(tree, path.Join(name, file))
		if err != nil {
			return err
		}
		uses[name] = l.folders(name)
		if l.Kind == "Component" {
			components[name] = true
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("looking for overlays: %w", err)
	}
	return uses, components, nil
}

// readLinks returns none for a file that is too large or no YAML: rendering it
// will say so.
func readLinks(tree fs.FS, file string) (l links, err error) {
	info, err := fs.Stat(tree, file)
	if err != nil || info.Size() > maxKustomization {
		return l, err
	}
	content, err := fs.ReadFile(tree, file)
	if err == nil && yaml.Unmarshal(content, &l) != nil {
		l = links{}
	}
	return l, err
}

// folders are the places in the tree that a kustomization reads, beside its
// own folder.
func (l links) folders(dir string) []string {
	var folders []string
	for _, entry := range slices.Concat(l.Resources, l.Bases, l.Components) {
		if strings.Contains(entry, "://") {
			continue
		}
		if folder := path.Join(dir, entry); fs.ValidPath(folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

// touches tells whether a folder or one that it builds on holds a changed file.
func touches(uses map[string][]string, overlay string, changed []string) bool {
	reached := map[string]bool{}
	reach(uses, overlay, reached)
	return slices.ContainsFunc(changed, func(file string) bool {
		for folder := range reached {
			if file == folder || folder == "." || strings.HasPrefix(file, folder+"/") {
				return true
			}
		}
		return false
	})
}
