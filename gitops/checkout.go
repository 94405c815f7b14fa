package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

// Checkout is the checked-out commit of the local repository that dir is in.
// What is in the work tree and not in the commit does not count. A shallow
// clone will do.
func Checkout(ctx context.Context, dir string) (Snapshot, error) {
	local, err := git.PlainOpenWithOptions(dir, &git.PlainOpenOptions{DetectDotGit: true, EnableDotGitCommonDir: true})
	if errors.Is(err, git.ErrRepositoryNotExists) {
		return Snapshot{}, fmt.Errorf("folder %s is in no Git checkout: %w", dir, remote.ErrNotFound)
	}
	if err != nil {
		return Snapshot{}, fmt.Errorf("opening the checkout %s: %w", dir, err)
	}
	head, err := local.Head()
	if err != nil {
		return Snapshot{}, fmt.Errorf("reading the checkout's HEAD in %s: %w", dir, err)
	}
	r := &Repo{store: store.NewLocal(objectsOf(local), dir)}
	c, err := r.commit(head.Hash())
	if err != nil {
		return Snapshot{}, fmt.Errorf("reading the checkout %s: %w", dir, err)
	}
	return r.snapshot(ctx, c), nil
}

// checkedOut are the objects of a checkout. Sizes are asked for by the thousand, of objects that nobody adds meanwhile: for
// these the packs stay open, and what is loose is listed once. HasEncodedObject of go-git does not work like that.
type checkedOut struct {
	storer.EncodedObjectStorer
	sizes storer.EncodedObjectStorer
}

// EncodedObjectSize is how many bytes an object has, by its header.
func (c checkedOut) EncodedObjectSize(hash plumbing.Hash) (int64, error) {
	return c.sizes.EncodedObjectSize(hash)
}

func objectsOf(local *git.Repository) storer.EncodedObjectStorer {
	onDisk, is := local.Storer.(*filesystem.Storage)
	if !is {
		return local.Storer
	}
	options := filesystem.Options{KeepDescriptors: true, ExclusiveAccess: true}
	return checkedOut{local.Storer, filesystem.NewStorageWithOptions(onDisk.Filesystem(), cache.NewObjectLRUDefault(), options)}
}

// Changed lists the files that differ between two snapshots, of one repository
// or of two, by their content and mode. Folders that are the same are not
// looked into, or fetched.
func Changed(from, to Snapshot) ([]string, error) {
	all, err := Differences(from, to)
	return Paths(all), err
}

// Paths are those of differences.
func Paths(all []Difference) []string {
	names := make([]string, 0, len(all))
	for _, d := range all {
		names = append(names, d.Path)
	}
	return names
}

// A Difference is a file, a symbolic link or a submodule of a snapshot that is not what another
// one has in its place.
type Difference struct {
	Path string
	Mode fs.FileMode // a submodule is irregular; zero: there is none any more

	tree *treeFS
	at   place
}

// Target is where a symbolic link leads, as it is written.
func (d Difference) Target() (string, error) {
	target, _, err := d.tree.Target(d.at)
	return target, err
}

// Size is how many bytes a file has that a checkout has, by what its header says: nothing is read or fetched for that.
// Of all else it is 0.
func (d Difference) Size() (int64, error) {
	if !d.Mode.IsRegular() || d.tree == nil {
		return 0, nil
	}
	of := d.tree.objects
	if m, is := of.(*merge); is {
		of = m.head.objects // what a pull request changes is in the checkout
	}
	there, is := of.(*store.Store)
	if !is {
		return 0, nil
	}
	size, err := store.Here(there, d.at.Hash)
	if err != nil {
		return 0, fmt.Errorf("reading the size of %s: %w", oneline.Brief(d.Path), err)
	}
	return size, nil
}

// Differences are what Changed names the paths of.
func Differences(from, to Snapshot) ([]Difference, error) {
	a, okA := from.Tree.(*treeFS)
	b, okB := to.Tree.(*treeFS)
	if !okA || !okB {
		return nil, errors.New("comparing snapshots: a tree is not this package's")
	}
	return changed(a, b, a.root, b.root, "")
}

// changed compares two folders; a zero hash is a folder that is not there. The prefix of what is
// in them ends in a slash: a name may be one that no path has, such as .., and is kept as it is.
func changed(a, b *treeFS, from, to plumbing.Hash, prefix string) ([]Difference, error) {
	if from == to {
		return nil, nil
	}
	was, err := a.entries(from)
	if err != nil {
		return nil, err
	}
	is, err := b.entries(to)
	if err != nil {
		return nil, err
	}
	var all []Difference
	for _, two := range pairs(was, is) {
		if two.old.Same(two.now) {
			continue
		}
		below, err := changedEntry(a, b, two.old, place{two.now, to}, prefix+cmp.Or(two.old.Name, two.now.Name))
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
	}
	return all, nil
}

func changedEntry(a, b *treeFS, old store.Entry, now place, name string) ([]Difference, error) {
	var from, to plumbing.Hash
	var all []Difference
	if old.Folder() {
		from = old.Hash
	}
	if now.Folder() {
		to = now.Hash
	}
	switch {
	case now.Name != "" && !now.Folder():
		all = append(all, Difference{Path: name, Mode: now.FileMode(), tree: b, at: now})
	case old.Name != "" && !old.Folder():
		all = append(all, Difference{Path: name})
	}
	below, err := changed(a, b, from, to, name+"/")
	return append(all, below...), err
}

// pair is what two folders have under one name; an empty entry is none.
type pair struct{ old, now store.Entry }

// pairs goes over each folder once, however many entries there are.
func pairs(was, is store.Tree) []pair {
	at := make(map[string]int, len(was))
	all := make([]pair, 0, max(len(was), len(is)))
	for _, e := range was {
		at[e.Name] = len(all)
		all = append(all, pair{old: e})
	}
	for _, e := range is {
		if i, there := at[e.Name]; there {
			all[i].now = e
			continue
		}
		all = append(all, pair{now: e})
	}
	return all
}
