package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/gitops/symlink"
	"github.com/acme/knative-promote/internal/oneline"
)

// treeFS is the content of a commit as a file system that fetches what is read.
type treeFS struct {
	// An fs.FS has no room for a context in its methods.
	ctx     context.Context
	objects objects
	commit  plumbing.Hash
	root    plumbing.Hash
	time    time.Time
}

// objects are those of a repository, or of a merge of two commits. Each is asked for with the commit that it is of, and a file
// with the folder that holds it.
type objects interface {
	Tree(ctx context.Context, commit, hash plumbing.Hash) (store.Tree, error)
	Blob(ctx context.Context, commit, folder, hash plumbing.Hash) ([]byte, error)
	Size(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error)
}

var (
	_ fs.ReadDirFS  = (*treeFS)(nil)
	_ fs.ReadFileFS = (*treeFS)(nil)
	_ fs.StatFS     = (*treeFS)(nil)
	_ fs.ReadLinkFS = (*treeFS)(nil)
)

// place is where a name leads: an entry and the folder that holds it.
type place struct {
	store.Entry
	in plumbing.Hash
}

// Open opens a file or a folder.
func (t *treeFS) Open(name string) (fs.File, error) {
	at, err := t.walk("open", name, true)
	if err != nil {
		return nil, err
	}
	info, err := t.info("open", name, at)
	if err != nil {
		return nil, err
	}
	if at.Folder() {
		entries, err := t.list("open", name, at)
		return &openFolder{info: info, name: name, left: entries}, err
	}
	data, err := t.blob("open", name, at)
	return newOpenFile(info, data), err
}

// ReadFile returns the content of a file.
func (t *treeFS) ReadFile(name string) ([]byte, error) {
	at, err := t.walk("open", name, true)
	if err != nil {
		return nil, err
	}
	if at.Folder() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	return t.blob("read", name, at)
}

// ReadDir lists a folder by name. It does not fetch what is in the folder.
func (t *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	at, err := t.walk("readdir", name, true)
	if err != nil {
		return nil, err
	}
	return t.list("readdir", name, at)
}

// Stat describes what a name leads to; for its size a file is fetched.
func (t *treeFS) Stat(name string) (fs.FileInfo, error) {
	at, err := t.walk("stat", name, true)
	if err != nil {
		return nil, err
	}
	return t.info("stat", name, at)
}

// Lstat is Stat without following a link at the end of the name.
func (t *treeFS) Lstat(name string) (fs.FileInfo, error) {
	at, err := t.walk("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return t.info("lstat", name, at)
}

// ReadLink returns the target of a symbolic link, as it is written.
func (t *treeFS) ReadLink(name string) (string, error) {
	at, err := t.walk("readlink", name, false)
	if err != nil {
		return "", err
	}
	if !at.Link() {
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	target, err := t.blob("readlink", name, at)
	return string(target), err
}

// walk finds the entry of a name, through links inside the tree.
func (t *treeFS) walk(op, name string, last bool) (place, error) {
	if !fs.ValidPath(name) {
		return place{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at, err := t.follow(name, last)
	if err != nil {
		return place{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return at, nil
}

func (t *treeFS) follow(name string, last bool) (place, error) {
	root := place{Entry: store.Entry{Mode: store.ModeFolder, Name: ".", Hash: t.root}}
	at, _, err := symlink.Follow[place](t, root, name, last)
	return at, err
}

// Find is an entry of a folder, as it is.
func (t *treeFS) Find(in place, name string) (place, error) {
	folder, err := t.objects.Tree(t.ctx, t.commit, in.Hash)
	if err != nil {
		return place{}, err
	}
	child, ok := folder.Find(name)
	switch {
	case !ok:
		return place{}, fs.ErrNotExist
	case child.Submodule():
		return place{}, fmt.Errorf("%s is a submodule: its content is in another repository", name)
	}
	return place{child, in.Hash}, nil
}

// entries are those of a folder; a zero hash is none.
func (t *treeFS) entries(hash plumbing.Hash) (store.Tree, error) {
	if hash.IsZero() {
		return nil, nil
	}
	return t.objects.Tree(t.ctx, t.commit, hash)
}

// Folder tells whether there are entries in one.
func (t *treeFS) Folder(at place) bool { return at.Folder() }

// Target is where a symbolic link leads.
func (t *treeFS) Target(at place) (target string, link bool, err error) {
	if !at.Link() {
		return "", false, nil
	}
	data, err := t.objects.Blob(t.ctx, t.commit, at.in, at.Hash)
	return string(data), true, err
}

func (t *treeFS) list(op, name string, at place) ([]fs.DirEntry, error) {
	if !at.Folder() {
		return nil, &fs.PathError{Op: op, Path: name, Err: errors.New("is not a folder")}
	}
	folder, err := t.objects.Tree(t.ctx, t.commit, at.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	entries := make([]fs.DirEntry, 0, len(folder))
	for _, e := range folder {
		if !fs.ValidPath(e.Name) || e.Name == "." || strings.Contains(e.Name, "/") {
			return nil, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("the folder holds the impossible name %q", oneline.Brief(e.Name))}
		}
		entries = append(entries, dirEntry{place{e, at.Hash}, t, path.Join(name, e.Name)})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

func (t *treeFS) blob(op, name string, at place) ([]byte, error) {
	data, err := t.objects.Blob(t.ctx, t.commit, at.in, at.Hash)
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return data, nil
}

func (t *treeFS) info(op, name string, at place) (fs.FileInfo, error) {
	info := fileInfo{name: path.Base(name), mode: at.FileMode(), time: t.time}
	if info.mode.IsRegular() || at.Link() {
		size, err := t.objects.Size(t.ctx, t.commit, at.in, at.Hash)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		info.size = size
	}
	return info, nil
}

type dirEntry struct {
	place
	fs   *treeFS
	path string
}

func (d dirEntry) Name() string               { return d.Entry.Name }
func (d dirEntry) IsDir() bool                { return d.Folder() }
func (d dirEntry) Type() fs.FileMode          { return d.FileMode().Type() }
func (d dirEntry) Info() (fs.FileInfo, error) { return d.fs.info("stat", d.path, d.place) }
func (d dirEntry) String() string             { return fs.FormatDirEntry(d) }
