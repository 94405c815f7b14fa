package kustomize

import (
	"path"

	"github.com/acme/knative-promote/gitops/symlink"
)

// symlinks are the symbolic links of a tree, and their targets.
type symlinks map[string]string

// longestName is how many bytes a name may have that is followed through links, as in Linux: each of
// its parts takes as long as all before it have.
const longestName = 4096

// through is the place that a name leads to, and the links on the way to it. One at its end is
// kept, as an overlay of its own, or to be followed by who reads it. A name that leads nowhere in
// the repository, which rendering refuses, is itself.
func (s symlinks) through(name string) (to string, passed []string) {
	w := passing{links: s}
	if len(name) > longestName {
		return path.Clean(name), nil
	}
	if _, to, err := symlink.Follow[string](&w, ".", name, false); err == nil {
		return to, w.passed
	}
	return path.Clean(name), w.passed
}

// passing notes the links that a name leads through. What is there beside them does not count.
type passing struct {
	links  symlinks
	passed []string
}

// Find is an entry of a folder, as it is.
func (p *passing) Find(folder, name string) (string, error) { return path.Join(folder, name), nil }

// Folder is taken for true.
func (p *passing) Folder(string) bool { return true }

// Target is where a symbolic link leads.
func (p *passing) Target(name string) (target string, link bool, err error) {
	if target, link = p.links[name]; link {
		p.passed = append(p.passed, name)
	}
	return target, link, nil
}
