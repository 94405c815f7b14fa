package kustomize

import (
	"errors"
	"io/fs"
	"slices"
	"sync"
)

// Limits on what is remembered.
const (
	maxRemembered     = 64       // renders
	maxRememberedSize = 32 << 20 // bytes of all files that they read and of what they came to
)

// memory holds the latest successful renders, the newest first. A promotion renders the same overlay many times, before
// and after each commit, and a large one takes seconds.
var (
	memory []*rendered
	atHand sync.Mutex // held by who reads or writes it
)

// rendered is a render and all that it asked of its tree. Any tree that answers the same renders to the same.
type rendered struct {
	dir   string
	asked []asked
	out   []byte
	raw   []string // files that generators read as they are
	held  []figure // what it took of what is bounded
	size  int      // bytes that it holds
}

// recall returns what the folder dir of tree renders to, nil if that is not remembered.
func recall(tree fs.FS, dir string) *rendered {
	atHand.Lock()
	known := slices.Clone(memory)
	atHand.Unlock()
	for _, r := range known {
		if r.dir == dir && r.holds(tree) {
			putFirst(r)
			return r
		}
	}
	return nil
}

// remember keeps a render, which it returns, and forgets those that were not recalled for longest.
func remember(dir string, tree *questioned, r *rendered) *rendered {
	r.dir, r.asked, r.size = dir, tree.asked, len(r.out)
	if tree.unclear {
		return r
	}
	for _, a := range r.asked {
		r.size += len(a.Name) + len(a.Text)
	}
	putFirst(r)
	return r
}

// putFirst makes a render the newest.
func putFirst(r *rendered) {
	atHand.Lock()
	defer atHand.Unlock()
	memory = slices.DeleteFunc(memory, func(other *rendered) bool { return other == r })
	memory = slices.Insert(memory, 0, r)
	size := 0
	for n, r := range memory {
		if size += r.size; n == maxRemembered || size > maxRememberedSize {
			memory = slices.Delete(memory, n, len(memory))
			return
		}
	}
}

// holds reports whether tree answers as the one that was rendered.
func (r *rendered) holds(tree fs.FS) bool {
	t := newQuestioned(tree)
	for n, a := range r.asked {
		if t.ask(a.question); t.unclear || t.asked[n] != a {
			return false
		}
	}
	return true
}

// asked is a question to a tree with its answer.
type asked struct {
	question
	answer
}

type question struct {
	What byte // one of the below
	Name string
}

const (
	aboutEntry byte = iota
	aboutLink
	aboutFile
)

// answer is what a tree says: the zero answer, that there is no such thing.
type answer struct {
	There bool
	Mode  fs.FileMode // of an entry
	Size  int64       // of an entry that is a file
	Text  string      // of a link or a file
	Fault string      // why there is no answer
}

// questioned is a tree that notes what it is asked.
type questioned struct {
	tree    fs.FS
	asked   []asked
	known   map[question]bool
	unclear bool // to something there was no answer
}

func newQuestioned(tree fs.FS) *questioned {
	return &questioned{tree: tree, known: map[question]bool{}}
}

func (t *questioned) note(q question, a answer, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a = answer{}
	case err != nil:
		a.Fault, t.unclear = err.Error(), true
	default:
		a.There = true
	}
	if !t.known[q] {
		t.known[q] = true
		t.asked = append(t.asked, asked{q, a})
	}
}

// ask asks the tree a question, for the note of it.
func (t *questioned) ask(q question) {
	switch q.What {
	case aboutEntry:
		_, _ = t.Lstat(q.Name)
	case aboutLink:
		_, _ = t.ReadLink(q.Name)
	case aboutFile:
		_, _ = t.ReadFile(q.Name)
	}
}

// Lstat describes an entry of the tree.
func (t *questioned) Lstat(name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(t.tree, name)
	var a answer
	if err == nil {
		a.Mode = info.Mode()
		if a.Mode.IsRegular() {
			a.Size = info.Size()
		}
	}
	t.note(question{aboutEntry, name}, a, err)
	return info, err
}

// ReadLink returns the target of a link of the tree.
func (t *questioned) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(t.tree, name)
	t.note(question{aboutLink, name}, answer{Text: target}, err)
	return target, err
}

// ReadFile returns the content of a file of the tree.
func (t *questioned) ReadFile(name string) ([]byte, error) {
	content, err := fs.ReadFile(t.tree, name)
	t.note(question{aboutFile, name}, answer{Text: string(content)}, err)
	return content, err
}

// Open is not needed: a render reads whole files.
func (t *questioned) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
