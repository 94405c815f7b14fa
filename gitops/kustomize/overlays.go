package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// ownPrefix begins the names of the files that the tool writes into an overlay.
const ownPrefix = "knative-promote-"

// folders are those of a tree with a kustomization, and what their renders may read.
type folders struct {
	uses       map[string][]string // the folders that each builds on
	reads      map[string][]string // what else the strings of its kustomization may name
	links      symlinks            // symbolic links
	leads      map[string][]string // where each leads, and the links on the way
	components map[string]bool     // they are no overlays by themselves
	open       map[string]bool     // which may read any file: by generators, transformers or validators, or by what was not read
	promoted   map[string]bool     // the tool has written into them, or they are known to be deployed
}

// Touched lists the overlays of two trees whose render may depend on one of the changed
// files: the ones that hold it, build on a folder that does, or name it. What an overlay of
// the same tree uses is not listed itself, unless it was promoted, is known to be deployed, or no
// other one uses it in the other tree: a change must not hide another one. Such folders are the
// parts, as are components, with the listed overlays that build on each.
func Touched(base, head fs.FS, changed []string, deployed func(folder string) bool) (overlays []string, parts []Part, err error) {
	is, err := foldersOf(head, deployed)
	if err != nil {
		return nil, nil, err
	}
	was, err := foldersOf(base, deployed)
	if err != nil {
		return nil, nil, err
	}
	all := append(was.overlays(), is.overlays()...)
	slices.Sort(all)
	all = slices.Compact(all)
	overlays = slices.DeleteFunc(slices.Clone(all), func(overlay string) bool {
		return !was.touches(overlay, changed) && !is.touches(overlay, changed)
	})
	either := maps.Clone(was.uses)
	maps.Copy(either, is.uses)
	for _, folder := range slices.Sorted(maps.Keys(either)) {
		if slices.Contains(all, folder) || !was.touches(folder, changed) && !is.touches(folder, changed) {
			continue
		}
		users := append(was.users(folder, overlays), is.users(folder, overlays)...)
		parts = append(parts, Part{Path: folder, Component: was.components[folder] || is.components[folder], Users: users})
	}
	return overlays, parts, nil
}

// A Part is a folder that overlays build on, or a component.
type Part struct {
	Path      string
	Component bool     // it may not render without what uses it
	Users     []string // overlays that build on it, before or after
}

// users are those of some overlays that build on a folder.
func (in folders) users(folder string, overlays []string) (users []string) {
	for _, overlay := range overlays {
		reached := map[string]bool{}
		if in.reach(overlay, reached); reached[folder] {
			users = append(users, overlay)
		}
	}
	return users
}

// Overlays lists all overlays of a tree, with those that are known to be deployed.
func Overlays(tree fs.FS, deployed func(folder string) bool) ([]string, error) {
	in, err := foldersOf(tree, deployed)
	if err != nil {
		return nil, err
	}
	return in.overlays(), nil
}

// Folders lists all folders of a tree with a kustomization, or something in its place, whatever builds on them, and the
// symbolic links to one.
func Folders(tree fs.FS) (all []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case !entry.IsDir() && entry.Type()&fs.ModeSymlink == 0:
			return nil
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		}
		if entry.IsDir() && meant(tree, name) || !entry.IsDir() && leads(tree, name) {
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking for kustomizations: %w", err)
	}
	return all, nil
}

// overlays are the folders that no other one builds on, those that were promoted, and one of
// each cycle, whose render will say what is wrong. A component that was promoted is one too:
// what is deployed by itself may say of itself what it likes.
func (in folders) overlays() []string {
	parts := maps.Clone(in.components)
	maps.DeleteFunc(parts, func(folder string, _ bool) bool { return in.promoted[folder] })
	used := maps.Clone(parts)
	for folder, next := range in.uses {
		for _, n := range next {
			used[n] = used[n] || n != folder && !in.promoted[n]
		}
	}
	var all []string
	reached := map[string]bool{}
	for _, spared := range []map[string]bool{used, parts} {
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
		if in.open[folder] && len(changed) > 0 {
			return true
		}
		for _, name := range in.reads[folder] {
			reached[name] = true
		}
	}
	for more := true; more; { // each may lead to another
		more = false
		for link, names := range in.leads {
			if !holds(reached, link) {
				continue
			}
			for _, name := range names {
				more = more || !reached[name]
				reached[name] = true
			}
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
	return folders{uses: map[string][]string{}, reads: map[string][]string{}, links: symlinks{}, leads: map[string][]string{}, components: map[string]bool{}, open: map[string]bool{}, promoted: map[string]bool{}}
}

// foldersOf looks at all kustomizations of a tree.
func foldersOf(tree fs.FS, deployed func(folder string) bool) (folders, error) {
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
	for folder := range in.uses {
		in.promoted[folder] = in.promoted[folder] || deployed(folder)
	}
	in.resolve()
	return in, nil
}

// resolve follows the links on the way to what the folders use and read, which read those too.
func (in folders) resolve() {
	for link, target := range in.links {
		to, passed := in.links.through(path.Dir(link) + "/" + target)
		in.leads[link] = append(passed, to)
	}
	for folder := range in.uses {
		var passed []string
		for _, names := range [][]string{in.uses[folder], in.reads[folder]} {
			for i, name := range names {
				to, links := in.links.through(name)
				names[i], passed = to, append(passed, links...)
			}
		}
		in.reads[folder] = append(in.reads[folder], passed...)
	}
}

// addLink adds a symbolic link; one to a folder with a kustomization is an overlay that builds on that.
func (in folders) addLink(tree fs.FS, name string) error {
	target, err := fs.ReadLink(tree, name)
	if err != nil {
		return err
	}
	in.links[name] = target
	if leads(tree, name) {
		in.uses[name] = []string{path.Dir(name) + "/" + target}
	}
	return nil
}

// leads tells whether a symbolic link leads to a folder with a kustomization, or with something in its place. One that
// leads out of the repository does not.
func leads(tree fs.FS, link string) bool {
	c := confined{ctx: context.Background(), tree: tree}
	to, info, err := c.follow(link)
	return err == nil && info.IsDir() && meant(tree, to)
}

// addFolder adds a folder with a kustomization. One with several, or with something else in its place, is an overlay too,
// whose render says what is wrong.
func (in folders) addFolder(tree fs.FS, name string) error {
	file, err := File(tree, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		in.uses[name] = nil
		return nil
	}
	l, err := readLinks(tree, path.Join(name, file))
	if err != nil {
		return err
	}
	in.uses[name] = l.folders(name)
	in.reads[name] = l.others(name)
	in.components[name] = l.Kind == "Component"
	in.open[name] = l.unread || len(l.Generators)+len(l.Transformers)+len(l.Validators) > 0
	return nil
}
