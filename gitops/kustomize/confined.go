package kustomize

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/acme/knative-promote/gitops/symlink"
)

// confinedRoot is where kustomize sees the tree. It lies below the root of its file system, so that a path that climbs out
// of the tree is not silently taken for one inside it.
const confinedRoot = "/repository"

// Limits on what one render reads.
const (
	maxFileSize  = 8 << 20  // bytes of one file
	maxTotalSize = 32 << 20 // bytes of all files together, each counted as often as it is used
	maxReads     = 4_000    // files, each counted as often as it is used
)

// confined is the file system that kustomize gets: the tree and nothing else, for reading only. Files are read once.
type confined struct {
	ctx   context.Context // kustomize takes none; after its end nothing more is read
	tree  fs.FS
	files map[string][]byte
	took  amount
}

// amount is what was read: files, and bytes of all and of the largest one.
type amount struct{ Reads, Bytes, Largest int }

// locate returns the path in the tree that a path of kustomize's means, with symbolic links followed.
func (c *confined) locate(name string) (string, fs.FileInfo, error) {
	name = path.Clean(name)
	rest, ok := strings.CutPrefix(name+"/", confinedRoot+"/")
	if !ok {
		return "", nil, fmt.Errorf("%s lies outside of the repository", name)
	}
	return c.follow(strings.Trim(rest, "/"))
}

// located is a file or folder of the tree.
type located struct {
	name string
	info fs.FileInfo
}

// follow is what a name leads to, which is relative to the tree's root.
func (c *confined) follow(name string) (string, fs.FileInfo, error) {
	if len(name) > longestName {
		return "", nil, fmt.Errorf("a path of %d bytes; at most %d are followed", len(name), longestName)
	}
	root, err := c.lstat(".")
	if err != nil {
		return "", nil, err
	}
	at, _, err := symlink.Follow[located](c, located{".", root}, name, true)
	return at.name, at.info, err
}

// Find is an entry of a folder, as it is.
func (c *confined) Find(in located, name string) (located, error) {
	at := path.Join(in.name, name)
	info, err := c.lstat(at)
	return located{at, info}, err
}

// Folder tells whether there are entries in one.
func (c *confined) Folder(at located) bool { return at.info.IsDir() }

// Target is where a symbolic link leads.
func (c *confined) Target(at located) (target string, link bool, err error) {
	if at.info.Mode()&fs.ModeSymlink == 0 {
		return "", false, nil
	}
	target, err = fs.ReadLink(c.tree, at.name)
	return target, true, err
}

func (c *confined) lstat(name string) (fs.FileInfo, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	return fs.Lstat(c.tree, name)
}

// ReadFile returns the content of a file of the tree within the limits.
func (c *confined) ReadFile(name string) ([]byte, error) {
	at, info, err := c.locate(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", at)
	case info.Size() > maxFileSize:
		return nil, fmt.Errorf("%s has %d bytes; at most %d are rendered", at, info.Size(), maxFileSize)
	}
	content, ok := c.files[at]
	if !ok {
		if content, err = fs.ReadFile(c.tree, at); err != nil {
			return nil, err
		}
		c.files[at] = content
	}
	c.took.Reads++
	c.took.Bytes += len(content)
	c.took.Largest = max(c.took.Largest, len(content))
	if c.took.Reads > maxReads || c.took.Bytes > maxTotalSize || len(content) > maxFileSize {
		return nil, fmt.Errorf("%s: at most %d files with %d bytes together are rendered", at, maxReads, maxTotalSize)
	}
	return content, nil
}

// CleanedAbs returns the folder and the file that name means.
func (c *confined) CleanedAbs(name string) (filesys.ConfirmedDir, string, error) {
	at, info, err := c.locate(name)
	if err != nil {
		return "", "", err
	}
	if info.IsDir() {
		return filesys.ConfirmedDir(path.Join(confinedRoot, at)), "", nil
	}
	return filesys.ConfirmedDir(path.Join(confinedRoot, path.Dir(at))), path.Base(at), nil
}

// IsDir reports whether name is a folder of the tree.
func (c *confined) IsDir(name string) bool {
	_, info, err := c.locate(name)
	return err == nil && info.IsDir()
}

// Exists reports whether name is in the tree.
func (c *confined) Exists(name string) bool {
	_, _, err := c.locate(name)
	return err == nil
}

// The rest of filesys.FileSystem, which rendering does not use.

var errReadOnly = errors.New("rendering only reads files")

func (c *confined) Create(string) (filesys.File, error)  { return nil, errReadOnly }
func (c *confined) Open(string) (filesys.File, error)    { return nil, errReadOnly }
func (c *confined) Mkdir(string) error                   { return errReadOnly }
func (c *confined) MkdirAll(string) error                { return errReadOnly }
func (c *confined) RemoveAll(string) error               { return errReadOnly }
func (c *confined) WriteFile(string, []byte) error       { return errReadOnly }
func (c *confined) ReadDir(string) ([]string, error)     { return nil, errReadOnly }
func (c *confined) Glob(string) ([]string, error)        { return nil, errReadOnly }
func (c *confined) Walk(string, filepath.WalkFunc) error { return errReadOnly }
