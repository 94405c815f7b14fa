package symlink

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
)

const (
	most    = 40   // links that one name may lead through, as in Linux
	longest = 4096 // bytes of a link's target, as in Linux
)

// A Tree is what names lead through. N is what it knows a file or folder by.
type Tree[N any] interface {
	Find(folder N, name string) (N, error) // an entry of a folder, as it is
	Folder(N) bool
	Target(N) (target string, link bool, err error)
}

// Follow is what a name leads to from the root of a tree, and its path without links. It goes
// entry by entry, so that .. in a link's target is the folder that holds what is before it, and
// not what is before it in the name. A link at the end of the name is followed where last says so.
func Follow[N any](tree Tree[N], root N, name string, last bool) (N, string, error) {
	w := way[N]{tree: tree, nodes: []N{root}, rest: parts(name, "")}
	for len(w.rest) > 0 {
		if err := w.step(last); err != nil {
			return root, "", err
		}
	}
	return w.here(), w.path(), nil
}

// way is how far a name was followed.
type way[N any] struct {
	tree  Tree[N]
	nodes []N      // the folders from the root to here
	names []string // of each but the root
	rest  []part   // of the name
	links int
}

// part is an entry's name, or .., of a name or a link's target.
type part struct{ name, out string } // out says of the link that it leads out of the repository

func (w *way[N]) here() N { return w.nodes[len(w.nodes)-1] }

func (w *way[N]) path() string { return path.Join(append([]string{"."}, w.names...)...) }

// step goes to the next entry, or into a link.
func (w *way[N]) step(last bool) error {
	next := w.rest[0]
	w.rest = w.rest[1:]
	if !w.tree.Folder(w.here()) {
		return fs.ErrNotExist
	}
	if next.name == ".." {
		return w.up(next.out)
	}
	node, err := w.tree.Find(w.here(), next.name)
	if err != nil {
		return err
	}
	w.nodes, w.names = append(w.nodes, node), append(w.names, next.name)
	if len(w.rest) == 0 && !last {
		return nil
	}
	target, link, err := w.tree.Target(node)
	if err != nil || !link {
		return err
	}
	return w.into(target)
}

// up goes to the folder that holds this one.
func (w *way[N]) up(out string) error {
	if len(w.names) == 0 {
		return errors.New(out)
	}
	w.nodes, w.names = w.nodes[:len(w.nodes)-1], w.names[:len(w.names)-1]
	return nil
}

// into goes on with the target of a link, from the folder that holds it.
func (w *way[N]) into(target string) error {
	out := fmt.Sprintf("%s is a symbolic link out of the repository, to %q", w.path(), oneline.Brief(target))
	w.links++
	switch {
	case target == "" || path.IsAbs(target):
		return errors.New(out)
	case w.links > most:
		return errors.New("too many levels of symbolic links")
	case len(target) > longest:
		return fmt.Errorf("%s is a symbolic link of %d bytes; at most %d are followed", w.path(), len(target), longest)
	}
	w.rest = append(parts(target, out), w.rest...)
	return w.up(out)
}

func parts(name, out string) (all []part) {
	for text := range strings.SplitSeq(name, "/") {
		if text != "" && text != "." {
			all = append(all, part{text, out})
		}
	}
	return all
}
