package knative

import (
	"bytes"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// edited is a tree with some files replaced. A nil content hides the file.
type edited struct {
	fs.FS
	files map[string][]byte
}

// Open opens the replaced file, or the tree's own. A folder that gained files
// lists them.
func (e edited) Open(name string) (fs.File, error) {
	if content, ok := e.files[name]; ok {
		if content == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return &file{Reader: bytes.NewReader(content), name: path.Base(name)}, nil
	}
	f, err := e.FS.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil || !info.IsDir() {
		return f, err
	}
	entries, err := e.ReadDir(name)
	return &folder{File: f, rest: entries}, err
}

// ReadFile is Open and read, kept so that a lazy tree reads only what is asked.
func (e edited) ReadFile(name string) ([]byte, error) {
	if content, ok := e.files[name]; ok && content != nil {
		return slices.Clone(content), nil
	} else if ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return fs.ReadFile(e.FS, name)
}

// Stat tells of the replaced file, or of the tree's own.
func (e edited) Stat(name string) (fs.FileInfo, error) {
	if _, ok := e.files[name]; !ok {
		return fs.Stat(e.FS, name)
	}
	f, err := e.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// ReadDir lists the tree's folder with the replaced files in it.
func (e edited) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(e.FS, name)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(slices.Clone(entries), func(d fs.DirEntry) bool {
		_, replaced := e.files[path.Join(name, d.Name())]
		return replaced
	})
	for file, content := range e.files {
		if content == nil || path.Dir(file) != path.Clean(name) {
			continue
		}
		info, err := e.Stat(file)
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// ReadLink answers for the tree's own symbolic links.
func (e edited) ReadLink(name string) (string, error) {
	return fs.ReadLink(e.FS, name)
}

// Lstat tells of the replaced file, or of the tree's own without following it.
func (e edited) Lstat(name string) (fs.FileInfo, error) {
	if _, ok := e.files[name]; ok {
		return e.Stat(name)
	}
	return fs.Lstat(e.FS, name)
}

// file is a replaced file: its own fs.File and fs.FileInfo.
type file struct {
	*bytes.Reader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }
func (f *file) Close() error               { return nil }
func (f *file) Name() string               { return f.name }
func (f *file) Mode() fs.FileMode          { return 0o644 }
func (f *file) ModTime() time.Time         { return time.Time{} }
func (f *file) IsDir() bool                { return false }
func (f *file) Sys() any                   { return nil }

// folder is a folder of the tree that lists the replaced files too.
type folder struct {
	fs.File
	rest []fs.DirEntry
}

// ReadDir lists the next n entries, all of them when n is not positive.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(f.rest)
	} else if len(f.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(f.rest))
	entries := f.rest[:n]
	f.rest = f.rest[n:]
	return entries, nil
}
