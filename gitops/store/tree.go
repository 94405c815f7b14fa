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

// The modes that new entries of a tree get, as Git writes them.
const (
	ModeFile   = "100644"
	ModeFolder = "40000"
)

// Entry is one line of a tree. The mode stays the text that it was: go-git's
// reader brings old modes such as 100664 into today's form, and a tree that is
// written again would then differ in lines that nobody changed. What the entry is,
// its methods tell: a folder may have the mode 40755 just as well.
type Entry struct {
	Mode, Name string
	Hash       plumbing.Hash
}

// Tree is one folder, in Git's order.
type Tree []Entry

// ParseTree makes one text of the whole object, which the entries share. A tree that has a name
// twice or a path for a name, or is out of Git's order, is an error: who reads it sees another file
// than who checks it out.
func ParseTree(raw []byte) (Tree, error) {
	var t Tree
	last := ""
	for left := string(raw); left != ""; {
		head, rest, ok := strings.Cut(left, "\x00")
		mode, name, both := strings.Cut(head, " ")
		if !ok || !both || !isMode(mode) || name == "" || len(rest) < len(plumbing.Hash{}) {
			return nil, errors.New("the tree object is malformed")
		}
		e := Entry{Mode: mode, Name: name}
		left = rest[copy(e.Hash[:], rest):]
		key := e.key()
		if strings.Contains(name, "/") {
			return nil, fmt.Errorf("the tree object is malformed at %s: a name has a slash", oneline.Brief(name))
		}
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
	return append(t.Without(e.Name), e).Sorted()
}

// Sorted returns the tree in Git's order.
func (t Tree) Sorted() Tree {
	return slices.SortedFunc(slices.Values(t), func(a, b Entry) int { return strings.Compare(a.key(), b.key()) })
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

// isMode tells whether Git can read a mode: it dies of a tree with another.
func isMode(text string) bool { return text != "" && strings.Trim(text, "01234567") == "" }

// The kinds of entries, and the bits of a mode that tell them, as Git has them.
const (
	kindBits  = 0o170000
	ofFolder  = 0o040000
	ofFile    = 0o100000
	ofLink    = 0o120000
	ownerRuns = 0o100
)

// mode is the number that the text means. Only its last 16 bits count, as for Git, which has
// a mode in so many.
func (e Entry) mode() (number uint16) {
	for _, digit := range []byte(e.Mode) {
		number = number<<3 + uint16(digit-'0')
	}
	return number
}

// Folder tells folders.
func (e Entry) Folder() bool { return e.mode()&kindBits == ofFolder }

// File tells regular files.
func (e Entry) File() bool { return e.mode()&kindBits == ofFile }

// Link tells symbolic links.
func (e Entry) Link() bool { return e.mode()&kindBits == ofLink }

// Submodule tells commits of other repositories, which Git takes everything else for.
func (e Entry) Submodule() bool { return !e.Folder() && !e.File() && !e.Link() }

// Same tells whether Git takes two entries for the same: it sees no difference between modes
// such as 40000 and 40755.
func (e Entry) Same(other Entry) bool {
	return e.Name == other.Name && e.Hash == other.Hash && e.FileMode() == other.FileMode()
}

// Kind is the entry's kind in words.
func (e Entry) Kind() string {
	switch {
	case e.Folder():
		return "folder"
	case e.Link():
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
	case e.Link():
		return fs.ModeSymlink | 0o777
	case e.File() && e.mode()&ownerRuns != 0:
		return 0o755
	case e.File():
		return 0o644
	default:
		return fs.ModeIrregular
	}
}
