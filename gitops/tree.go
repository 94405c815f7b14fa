package gitops

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// The modes of tree entries, as Git writes them.
const (
	modeFile       = "100644"
	modeExecutable = "100755"
	modeFolder     = "40000"
	modeLink       = "120000"
	modeSubmodule  = "160000"
)

// entry is one line of a tree. The mode stays the text that it was: go-git's
// reader brings old modes such as 100664 into today's form, and a tree that is
// written again would then differ in lines that nobody changed.
type entry struct {
	mode, name string
	hash       plumbing.Hash
}

// tree is one folder, in Git's order.
type tree []entry

// parseTree makes one text of the whole object, which the entries share.
func parseTree(raw []byte) (tree, error) {
	var t tree
	for left := string(raw); left != ""; {
		head, rest, ok := strings.Cut(left, "\x00")
		mode, name, both := strings.Cut(head, " ")
		if !ok || !both || name == "" || len(rest) < len(plumbing.Hash{}) {
			return nil, errors.New("the tree object is malformed")
		}
		e := entry{mode: mode, name: name}
		left = rest[copy(e.hash[:], rest):]
		t = append(t, e)
	}
	return t, nil
}

// cost is about what a tree takes in memory, in bytes.
func (t tree) cost() int64 {
	const entryCost = 128
	return int64(len(t)) * entryCost
}

func (t tree) encode() []byte {
	var raw []byte
	for _, e := range t {
		raw = append(append(append(raw, e.mode...), ' '), e.name...)
		raw = append(append(raw, 0), e.hash[:]...)
	}
	return raw
}

// find returns the entry of a name.
func (t tree) find(name string) (entry, bool) {
	for _, e := range t {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// with returns the tree with an entry added or replaced.
func (t tree) with(e entry) tree {
	out := append(t.without(e.name), e)
	slices.SortFunc(out, func(a, b entry) int { return strings.Compare(a.key(), b.key()) })
	return out
}

// without returns a copy of the tree without an entry.
func (t tree) without(name string) tree {
	return slices.DeleteFunc(slices.Clone(t), func(e entry) bool { return e.name == name })
}

// key is what Git sorts by: a folder as if its name ended in a slash.
func (e entry) key() string {
	if e.folder() {
		return e.name + "/"
	}
	return e.name
}

// folder tells folders; old tools wrote their mode with a leading zero.
func (e entry) folder() bool { return strings.TrimPrefix(e.mode, "0") == modeFolder }

// file tells regular files, also those of old modes.
func (e entry) file() bool { return strings.HasPrefix(e.mode, "100") }
