package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

// edit writes a changed tree: new blobs, and the folders from them up to the root.
type edit struct {
	ctx     context.Context
	store   *store.Store
	commit  plumbing.Hash
	written []plumbing.EncodedObject
}

// root writes the tree of a commit with changed files: path to content, nil
// deletes. It returns the tree's hash.
func (e *edit) root(tree plumbing.Hash, files map[string][]byte) (plumbing.Hash, error) {
	for path := range files {
		if err := checkPath(path); err != nil {
			return plumbing.ZeroHash, err
		}
	}
	hash, empty, err := e.folder(".", tree, files)
	if err == nil && empty {
		return plumbing.ZeroHash, errors.New("the change would delete all files of the repository")
	}
	return hash, err
}

func checkPath(path string) error {
	if !fs.ValidPath(path) || path == "." || strings.ContainsAny(path, "\x00\n\\") {
		return fmt.Errorf("path %q: expected a path inside the repository, such as apps/web/kustomization.yaml", oneline.Brief(path))
	}
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(part, ".git") {
			return fmt.Errorf("path %q: .git is not a name that Git takes", oneline.Brief(path))
		}
	}
	return nil
}

// folder writes one folder; a zero hash stands for one that is not there. A
// folder that becomes empty is not written, as Git knows none.
func (e *edit) folder(name string, hash plumbing.Hash, files map[string][]byte) (_ plumbing.Hash, empty bool, err error) {
	var before store.Tree
	if !hash.IsZero() {
		if before, err = e.store.Tree(e.ctx, e.commit, hash); err != nil {
			return plumbing.ZeroHash, false, err
		}
	}
	after := before
	here, below := split(files)
	for child, content := range here {
		if _, both := below[child]; both {
			return plumbing.ZeroHash, false, fmt.Errorf("path %q: is both a file and a folder in the change", join(name, child))
		}
		if after, err = e.file(after, join(name, child), child, content); err != nil {
			return plumbing.ZeroHash, false, err
		}
	}
	for child, files := range below {
		if after, err = e.subfolder(after, join(name, child), child, files); err != nil {
			return plumbing.ZeroHash, false, err
		}
	}
	if len(after) == 0 {
		return plumbing.ZeroHash, true, nil
	}
	written, err := e.write(plumbing.TreeObject, after.Encode(), hash)
	return written, false, err
}

func (e *edit) file(in store.Tree, path, name string, content []byte) (store.Tree, error) {
	old, exists := in.Find(name)
	if exists && !old.File() {
		return nil, fmt.Errorf("path %q: is a %s, expected a file", oneline.Brief(path), old.Kind())
	}
	if content == nil {
		return in.Without(name), nil
	}
	mode := store.ModeFile
	if exists {
		mode = old.Mode
	}
	hash, err := e.write(plumbing.BlobObject, content, old.Hash)
	if err != nil {
		return nil, err
	}
	return in.With(store.Entry{Mode: mode, Name: name, Hash: hash}), nil
}

func (e *edit) subfolder(in store.Tree, path, name string, files map[string][]byte) (store.Tree, error) {
	old, exists := in.Find(name)
	if exists && !old.Folder() {
		return nil, fmt.Errorf("path %q: is a %s, expected a folder", oneline.Brief(path), old.Kind())
	}
	hash, empty, err := e.folder(path, old.Hash, files)
	if err != nil {
		return nil, err
	}
	if empty {
		return in.Without(name), nil
	}
	mode := store.ModeFolder
	if exists {
		mode = old.Mode
	}
	return in.With(store.Entry{Mode: mode, Name: name, Hash: hash}), nil
}

// write makes an object, unless it is the one that was there.
func (e *edit) write(kind plumbing.ObjectType, content []byte, old plumbing.Hash) (plumbing.Hash, error) {
	encoded := &plumbing.MemoryObject{}
	encoded.SetType(kind)
	if _, err := encoded.Write(content); err != nil {
		return plumbing.ZeroHash, fmt.Errorf("writing a %s: %w", kind, err)
	}
	if encoded.Hash() != old {
		e.written = append(e.written, encoded)
	}
	return encoded.Hash(), nil
}

// split sorts files by whether they are in this folder or in which one below.
func split(files map[string][]byte) (here map[string][]byte, below map[string]map[string][]byte) {
	here, below = map[string][]byte{}, map[string]map[string][]byte{}
	for path, content := range files {
		name, rest, deeper := strings.Cut(path, "/")
		if !deeper {
			here[name] = content
			continue
		}
		if below[name] == nil {
			below[name] = map[string][]byte{}
		}
		below[name][rest] = content
	}
	return here, below
}

func join(folder, name string) string {
	return strings.TrimPrefix(folder+"/"+name, "./")
}
