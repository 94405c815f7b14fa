package kustomize

import (
	"errors"
	"io/fs"
	"slices"
)

// Limits on what is remembered.
const (
	maxRemembered     = 64       // renders
	maxRememberedSize = 32 << 20 // bytes of all files that they read and of what they came to
)

// memory holds the latest successful renders, the newest first. A promotion renders the same overlay many times, before
// and after each commit, and a large one takes seconds. Whoever holds turn reads and writes it.
var memory []rendered

// rendered is a render and all that it asked of its tree. Any tree that answers the same renders to the same.
type rendered struct {
	dir   string
	asked []asked
	out   []byte
	size  int // bytes that it holds
}

// recall returns what the folder dir of tree renders to, if that is remembered.
func recall(tree fs.FS, dir string) ([]byte, bool) {
	for n, r := range memory {
		if r.dir == dir && r.holds(tree) {
			memory = slices.Insert(slices.Delete(memory, n, n+1), 0, r)
			return slices.Clone(r.out), true
		}
	}
	return nil, false
}

// remember keeps a render, and forgets those that were not recalled for longest.
func remember(dir string, w *witness, out []byte) {
	if w.unclear {
		return
	}
	r := rendered{dir: dir, asked: w.asked, out: slices.Clone(out), size: len(out)}
	for _, a := range r.asked {
		r.size += len(a.name) + len(a.text)
	}
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
func (r rendered) holds(tree fs.FS) bool {
	w := newWitness(tree)
	for n, a := range r.asked {
		if w.ask(a.question); w.unclear || w.asked[n] != a {
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
	what byte // one of the below
	name string
}

const (
	aboutEntry byte = iota
	aboutLink
	aboutFile
)

// answer is what a tree says: the zero answer, that there is no such thing.
type answer struct {
	there bool
	mode  fs.FileMode // of an entry
	size  int64       // of an entry that is a file
	text  string      // of a link or a file
}

// witness is a tree that notes what it is asked.
type witness struct {
	tree    fs.FS
	asked   []asked
	known   map[question]bool
	unclear bool // to something there was no answer
}

func newWitness(tree fs.FS) *witness { return &witness{tree: tree, known: map[question]bool{}} }

func (w *witness) note(q question, a answer, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		a = answer{}
	case err != nil:
		w.unclear = true
	default:
		a.there = true
	}
	if !w.known[q] {
		w.known[q] = true
		w.asked = append(w.asked, asked{q, a})
	}
}

// ask asks the tree a question, for the note of it.
func (w *witness) ask(q question) {
	switch q.what {
	case aboutEntry:
		_, _ = w.Lstat(q.name)
	case aboutLink:
		_, _ = w.ReadLink(q.name)
	case aboutFile:
		_, _ = w.ReadFile(q.name)
	}
}

// Lstat describes an entry of the tree.
func (w *witness) Lstat(name string) (fs.FileInfo, error) {
	info, err := fs.Lstat(w.tree, name)
	var a answer
	if err == nil {
		a.mode = info.Mode()
		if a.mode.IsRegular() {
			a.size = info.Size()
		}
	}
	w.note(question{aboutEntry, name}, a, err)
	return info, err
}

// ReadLink returns the target of a link of the tree.
func (w *witness) ReadLink(name string) (string, error) {
	target, err := fs.ReadLink(w.tree, name)
	w.note(question{aboutLink, name}, answer{text: target}, err)
	return target, err
}

// ReadFile returns the content of a file of the tree.
func (w *witness) ReadFile(name string) ([]byte, error) {
	content, err := fs.ReadFile(w.tree, name)
	w.note(question{aboutFile, name}, answer{text: string(content)}, err)
	return content, err
}

// Open is not needed: a render reads whole files.
func (w *witness) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.ErrUnsupported}
}
