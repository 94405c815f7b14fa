package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/gitops/store"
)

// Merge is what Git makes of a merge of two snapshots that come from a third one, as a tree with the commit of head. The conflicts are the
// paths of which nobody sees what becomes: a file that both have changed is merged where [mergeText] is sure of it, and what is new
// in a folder that the other one has taken out never, as Git looks for where that has been moved to. Where Git has a conflict that is none here, as
// of a file that one has moved and both have taken out, it merges nothing.
func Merge(base, tip, head Snapshot) (merged Snapshot, conflicts []string, err error) {
	m := &merge{theirs: map[plumbing.Hash]plumbing.Hash{}, trees: map[plumbing.Hash]store.Tree{}, files: map[plumbing.Hash][]byte{}}
	var is [3]bool
	m.base, is[0] = base.Tree.(*treeFS)
	m.tip, is[1] = tip.Tree.(*treeFS)
	m.head, is[2] = head.Tree.(*treeFS)
	if slices.Contains(is[:], false) {
		return Snapshot{}, nil, errors.New("merging snapshots: a tree is not this package's")
	}
	root, err := m.folder(three[plumbing.Hash]{m.base.root, m.tip.root, m.head.root}, "")
	tree := *m.head
	tree.objects, tree.root = m, root
	return Snapshot{Commit: head.Commit, Tree: &tree}, m.conflicts, err
}

// merge has what neither side of a merge has, and tells which side has the rest.
type merge struct {
	base, tip, head *treeFS
	conflicts       []string

	mu     sync.Mutex
	theirs map[plumbing.Hash]plumbing.Hash // the tip's folder that holds what is taken from there
	trees  map[plumbing.Hash]store.Tree
	files  map[plumbing.Hash][]byte
}

// three are what the two sides, and what both come from, have in one place; the zero value is nothing.
type three[T any] struct{ base, tip, head T }

// folder merges a folder; a zero hash is none, or one in which nothing is.
func (m *merge) folder(in three[plumbing.Hash], prefix string) (plumbing.Hash, error) {
	base, errBase := m.base.entries(in.base)
	tip, errTip := m.tip.entries(in.tip)
	head, errHead := m.head.entries(in.head)
	if err := errors.Join(errBase, errTip, errHead); err != nil {
		return plumbing.ZeroHash, err
	}
	names := map[string]bool{}
	for _, e := range slices.Concat(base, tip, head) {
		names[e.Name] = true
	}
	var tree store.Tree
	for _, name := range slices.Sorted(maps.Keys(names)) {
		var of three[store.Entry]
		of.base, _ = base.Find(name)
		of.tip, _ = tip.Find(name)
		of.head, _ = head.Find(name)
		e, err := m.entry(of, in, prefix+name)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if e.Name != "" {
			tree = append(tree, e)
		}
	}
	if len(tree) == 0 {
		return plumbing.ZeroHash, nil
	}
	tree = tree.Sorted()
	made := plumbing.ComputeHash(plumbing.TreeObject, tree.Encode())
	m.trees[made] = tree
	return made, nil
}

// entry merges what is under one name in these folders.
func (m *merge) entry(of three[store.Entry], in three[plumbing.Hash], name string) (store.Entry, error) {
	gone := !in.base.IsZero() && (in.tip.IsZero() || in.head.IsZero())
	isFolder := func(side store.Entry) bool { return side.Folder() || side.Name == "" && of.base.Folder() }
	switch {
	case gone && of.base.Name == "": // Git would look for where the folder has been moved to
	case of.tip.Same(of.head), of.base.Same(of.tip):
		return of.head, nil
	case of.base.Same(of.head):
		m.theirs[of.tip.Hash] = in.tip
		return of.tip, nil
	case isFolder(of.tip) && isFolder(of.head):
		below := three[plumbing.Hash]{tip: of.tip.Hash, head: of.head.Hash}
		if of.base.Folder() {
			below.base = of.base.Hash
		}
		made, err := m.folder(below, name+"/")
		if made.IsZero() {
			return store.Entry{}, err
		}
		return store.Entry{Mode: store.ModeFolder, Name: path.Base(name), Hash: made}, err
	case of.base.File() && of.base.FileMode() == of.tip.FileMode() && of.base.FileMode() == of.head.FileMode():
		return m.file(of, in, name)
	}
	m.conflicts = append(m.conflicts, name)
	return of.head, nil
}

// file merges the content of a file.
func (m *merge) file(of three[store.Entry], in three[plumbing.Hash], name string) (store.Entry, error) {
	base, errBase := m.base.blob("merge", name, place{of.base, in.base})
	tip, errTip := m.tip.blob("merge", name, place{of.tip, in.tip})
	head, errHead := m.head.blob("merge", name, place{of.head, in.head})
	err := errors.Join(errBase, errTip, errHead)
	if _, large := errors.AsType[*remote.TooLarge](err); err != nil && !large {
		return store.Entry{}, err
	}
	merged, sure := mergeText(string(base), string(tip), string(head))
	if err != nil || !sure || bytes.IndexByte(head, 0) >= 0 {
		m.conflicts = append(m.conflicts, name)
		return of.head, nil
	}
	made := of.head
	made.Hash = plumbing.ComputeHash(plumbing.BlobObject, []byte(merged))
	m.files[made.Hash] = []byte(merged)
	return made, nil
}

// Tree returns a folder.
func (m *merge) Tree(ctx context.Context, commit, hash plumbing.Hash) (store.Tree, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, is := m.trees[hash]; is {
		return made, nil
	}
	if _, is := m.theirs[hash]; !is {
		return m.head.objects.Tree(ctx, commit, hash)
	}
	tree, err := m.tip.objects.Tree(ctx, m.tip.commit, hash)
	if size := int64(len(tree.Encode())); size > remote.FileLimit { // as of the checkout, for which that is the limit
		err = fmt.Errorf("reading folder %s: %w", hash, &remote.TooLarge{Bytes: size})
	}
	for _, e := range tree {
		m.theirs[e.Hash] = hash
	}
	return tree, err
}

// Blob returns a file's content.
func (m *merge) Blob(ctx context.Context, commit, folder, hash plumbing.Hash) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, is := m.files[hash]; is {
		return slices.Clone(made), nil
	}
	if in, is := m.theirs[hash]; is {
		return m.tip.objects.Blob(ctx, m.tip.commit, in, hash)
	}
	return m.head.objects.Blob(ctx, commit, folder, hash)
}

// Size returns how many bytes a file has.
func (m *merge) Size(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if made, is := m.files[hash]; is {
		return int64(len(made)), nil
	}
	if in, is := m.theirs[hash]; is {
		return m.tip.objects.Size(ctx, m.tip.commit, in, hash)
	}
	return m.head.objects.Size(ctx, commit, folder, hash)
}
