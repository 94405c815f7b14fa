package kustomize

import (
	"errors"
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

// ownPrefix begins the names of the files that the tool writes into an overlay.
const ownPrefix = "knative-promote-"

// folders are those of a tree with a kustomization, and what their renders may read.
type folders struct {
	uses       map[string][]string // the folders that each builds on
	reads      map[string][]string // what else the strings of its kustomization may name
	links      map[string]string   // symbolic links, and where they lead
	components map[string]bool     // they are no overlays by themselves
	promoted   map[string]bool     // the tool has written into them
}

// Touched lists the overlays of two trees whose render may depend on one of the changed
// files: the ones that hold it, build on a folder that does, or name it. What an overlay of
// the same tree uses is not listed itself, unless it was promoted, or no other one uses it in
// the other tree: a change must not hide another one.
func Touched(base, head fs.FS, changed []string) ([]string, error) {
	was, err := foldersOf(base)
	if err != nil {
		return nil, err
	}
	is, err := foldersOf(head)
	if err != nil {
		return nil, err
	}
	all := append(was.overlays(), is.overlays()...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(overlay string) bool {
		return !was.touches(overlay, changed) && !is.touches(overlay, changed)
	}), nil
}

// Overlays lists all overlays of a tree.
func Overlays(tree fs.FS) ([]string, error) {
	in, err := foldersOf(tree)
	if err != nil {
		return nil, err
	}
	return in.overlays(), nil
}

// Below are the folders that an overlay builds on, as far as they can be read.
func Below(tree fs.FS, overlay string) []string {
	in, reached := newFolders(), map[string]bool{}
	var read func(folder string)
	read = func(folder string) {
		if !reached[folder] && in.addFolder(tree, folder) == nil {
			reached[folder] = true
			for _, next := range in.uses[folder] {
				read(next)
			}
		}
	}
	read(path.Clean(overlay))
	delete(reached, path.Clean(overlay))
	return slices.Sorted(maps.Keys(reached))
}

// overlays are the folders that no other one builds on, those that were promoted, and one of
// each cycle, whose render will say what is wrong.
func (in folders) overlays() []string {
	used := maps.Clone(in.components)
	for folder, next := range in.uses {
		for _, n := range next {
			used[n] = used[n] || n != folder && !in.promoted[n]
		}
	}
	var all []string
	reached := map[string]bool{}
	for _, spared := range []map[string]bool{used, in.components} {
		for _, folder := range slices.Sorted(maps.Keys(in.uses)) {
			if !spared[folder] && (!reached[folder] || in.promoted[folder]) && !slices.Contains(all, folder) {
				all = append(all, folder)
				in.reach(folder, reached)
			}
		}
	}
	slices.Sort(all)
	return all
}

// reach adds a folder and all that it builds on.
func (in folders) reach(folder string, reached map[string]bool) {
	if reached[folder] {
		return
	}
	reached[folder] = true
	for _, next := range in.uses[folder] {
		in.reach(next, reached)
	}
}

// touches tells whether a folder, or what it builds on, reads or links to, holds a changed file.
func (in folders) touches(overlay string, changed []string) bool {
	built := map[string]bool{}
	in.reach(overlay, built)
	reached := maps.Clone(built)
	for folder := range built {
		for _, name := range in.reads[folder] {
			reached[name] = true
		}
	}
	for range maxLinks { // each may lead to another, and more are not rendered
		more := false
		for link, target := range in.links {
			if holds(reached, link) && !reached[target] {
				reached[target], more = true, true
			}
		}
		if !more {
			break
		}
	}
	return slices.ContainsFunc(changed, func(file string) bool { return holds(reached, file) })
}

// holds tells whether a file is one of these, or below one.
func holds(reached map[string]bool, file string) bool {
	for dir := file; ; dir = path.Dir(dir) {
		if reached[dir] {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

func newFolders() folders {
	return folders{uses: map[string][]string{}, reads: map[string][]string{}, links: map[string]string{}, components: map[string]bool{}, promoted: map[string]bool{}}
}

// foldersOf looks at all kustomizations of a tree.
func foldersOf(tree fs.FS) (folders, error) {
	in := newFolders()
	err := fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Type()&fs.ModeSymlink != 0:
			return in.addLink(tree, name)
		case !entry.IsDir():
			if strings.HasPrefix(entry.Name(), ownPrefix) {
				in.promoted[path.Dir(name)] = true
			}
			return nil
		case entry.Name() == ".git":
			return fs.SkipDir
		}
		return in.addFolder(tree, name)
	})
	if err != nil {
		return folders{}, fmt.Errorf("looking for overlays: %w", err)
	}
	return in, nil
}

// addLink adds a symbolic link; one to a folder with a kustomization is an overlay that builds on that.
func (in folders) addLink(tree fs.FS, name string) error {
	target, err := fs.ReadLink(tree, name)
	if err != nil {
		return err
	}
	to := path.Join(path.Dir(name), target)
	if path.IsAbs(target) || !fs.ValidPath(to) {
		return nil // out of the repository, which rendering refuses
	}
	in.links[name] = to
	if _, err := File(tree, to); err == nil {
		in.uses[name] = []string{to}
	}
	return nil
}

func (in folders) addFolder(tree fs.FS, name string) error {
	file, err := File(tree, name)
	if err != nil { // not an overlay
		return nil
	}
	l, err := readLinks(tree, path.Join(name, file))
	if err != nil {
		return err
	}
	in.uses[name] = l.folders(name)
	in.reads[name] = l.others(name)
	in.components[name] = l.Kind == "Component"
	return nil
}

// links are the fields of a kustomization that lead to other folders, and all of its strings.
// They are read without kustomize's own reader, which takes nothing from a file with one
// unknown field: which overlays to render shows before it is known that they do.
type links struct {
	Kind       string   `json:"kind"`
	Resources  []string `json:"resources"`
	Bases      []string `json:"bases"`
	Components []string `json:"components"`

	strings []string
}

// readLinks returns none for a file that is too large or no YAML: rendering it
// will say so.
func readLinks(tree fs.FS, file string) (l links, err error) {
	info, err := fs.Stat(tree, file)
	if errors.Is(err, fs.ErrNotExist) { // a link to nothing
		return l, nil
	}
	if err != nil || info.Size() > maxKustomization {
		return l, err
	}
	content, err := fs.ReadFile(tree, file)
	if err != nil {
		return l, err
	}
	var all any
	if yaml.Unmarshal(content, &l) != nil {
		l = links{}
	}
	if yaml.Unmarshal(content, &all) == nil {
		l.strings = stringsIn(all, nil)
	}
	return l, nil
}

func stringsIn(value any, found []string) []string {
	switch v := value.(type) {
	case string:
		return append(found, v)
	case []any:
		for _, item := range v {
			found = stringsIn(item, found)
		}
	case map[string]any:
		for _, item := range v {
			found = stringsIn(item, found)
		}
	}
	return found
}

// folders are the places in the tree that a kustomization builds on, beside its own folder.
func (l links) folders(dir string) []string {
	var all []string
	for _, entry := range slices.Concat(l.Resources, l.Bases, l.Components) {
		if to, is := placeOf(dir, entry); is {
			all = append(all, to)
		}
	}
	return all
}

// others are the places that any of its strings may name, also after a key: a patch, a file of
// a generator, the configuration of a transformer.
func (l links) others(dir string) []string {
	var all []string
	for _, text := range l.strings {
		_, value, _ := strings.Cut(text, "=")
		for _, entry := range []string{text, value} {
			if to, is := placeOf(dir, entry); is && to != "." && strings.Contains(entry, "/") {
				all = append(all, to)
			}
		}
	}
	return all
}

// placeOf is the place in the tree that an entry of a kustomization leads to.
func placeOf(dir, entry string) (string, bool) {
	if strings.Contains(entry, "://") || strings.ContainsAny(entry, "\n") || path.IsAbs(entry) {
		return "", false
	}
	to := path.Join(dir, entry)
	return to, fs.ValidPath(to)
}
