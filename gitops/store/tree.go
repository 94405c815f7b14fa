package store

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/internal/oneline"
)

// The modes of tree entries, as Git writes them.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeFolder     = "40000"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
)

// Entry is one line of a tree. The mode stays the text that it was: go-git's
// reader brings old modes such as 100664 into today's form, and a tree that is
// written again would then differ in lines that nobody changed.
type Entry struct {
	Mode, Name string
	Hash       plumbing.Hash
}

// Tree is one folder, in Git's order.
type Tree []Entry

// ParseTree makes one text of the whole object, which the entries share. A tree that has a name
// twice, or is out of Git's order, is an error: who reads it sees another file than who checks it out.
func ParseTree(raw []byte) (Tree, error) {
	var t Tree
	last := ""
	for left := string(raw); left != ""; {
		head, rest, ok := strings.Cut(left, "\x00")
		mode, name, both := strings.Cut(head, " ")
		if !ok || !both || name == "" || len(rest) < len(plumbing.Hash{}) {
			return nil, errors.New("the tree object is malformed")
		}
		e := Entry{Mode: mode, Name: name}
		left = rest[copy(e.Hash[:], rest):]
		key := e.key()
		if key <= last || e.Folder() && t.hasFile(name) {
			return nil, fmt.Errorf("the tree object is malformed at %s: a name comes twice, or they are out of order", oneline.Brief(name))
		}
		t, last = append(t, e), key
	}
	return t, nil
}

// hasFile tells whether the end of a tree has a file of a folder's name: no other names stand
// between them than those that begin with it.
func (t Tree) hasFile(folder string) bool {
	for _, e := range slices.Backward(t) {
		if !strings.HasPrefix(e.Name, folder) {
			return false
		}
		if e.Name == folder {
			return true
		}
	}
	return false
}

// cost is about what a tree takes in memory, in bytes.
func (t Tree) cost() int64 {
	const entryCost = 128
	return int64(len(t)) * entryCost
}

// Encode is the tree as Git writes it.
func (t Tree) Encode() []byte {
	size := 0
	for _, e := range t {
		size += len(e.Mode) + len(e.Name) + len(" \x00") + len(e.Hash)
	}
	raw := make([]byte, 0, size)
	for _, e := range t {
		raw = append(append(append(raw, e.Mode...), ' '), e.Name...)
		raw = append(append(raw, 0), e.Hash[:]...)
	}
	return raw
}

// Find returns the entry of a name: a folder stands elsewhere in Git's order than a file does.
func (t Tree) Find(name string) (Entry, bool) {
	for _, key := range []string{name, name + "/"} {
		i, found := slices.BinarySearchFunc(t, key, func(e Entry, key string) int { return strings.Compare(e.key(), key) })
		if found && t[i].Name == name {
			return t[i], true
		}
	}
	return Entry{}, false
}

// With returns the tree with an entry added or replaced.
func (t Tree) With(e Entry) Tree {
	out := append(t.Without(e.Name), e)
	slices.SortFunc(out, func(a, b Entry) int { return strings.Compare(a.key(), b.key()) })
	return out
}

// Without returns a copy of the tree without an entry.
func (t Tree) Without(name string) Tree {
	return slices.DeleteFunc(slices.Clone(t), func(e Entry) bool { return e.Name == name })
}

// key is what Git sorts by: a folder as if its name ended in a slash.
func (e Entry) key() string {
	if e.Folder() {
		return e.Name + "/"
	}
	return e.Name
}

// Folder tells folders; old tools wrote their mode with a leading zero.
func (e Entry) Folder() bool { return strings.TrimPrefix(e.Mode, "0") == ModeFolder }

// File tells regular files, also those of old modes.
func (e Entry) File() bool { return strings.HasPrefix(e.Mode, "100") }

// Kind is the entry's kind in words.
func (e Entry) Kind() string {
	switch {
	case e.Folder():
		return "folder"
	case e.Mode == ModeLink:
		return "symbolic link"
	case e.File():
		return "file"
	default:
		return "submodule"
	}
}

// FileMode is the entry's mode as package fs has it. A submodule is irregular:
// neither a file nor a folder of this repository.
func (e Entry) FileMode() fs.FileMode {
	switch {
	case e.Folder():
		return fs.ModeDir | 0o755
	case e.Mode == ModeLink:
		return fs.ModeSymlink | 0o777
	case e.Mode == ModeExecutable:
		return 0o755
	case e.File():
		return 0o644
	default:
		return fs.ModeIrregular
	}
}
