package store

import (
	"bytes"
	"errors"

	"github.com/go-git/go-git/v5/plumbing"
)

// A Commit is what Git goes by of a commit object.
type Commit struct {
	Tree              plumbing.Hash
	Parents           []plumbing.Hash
	Author, Committer []byte // as they stand
	Message           []byte
}

// ParseCommit reads a commit by the order of its lines, as Git does: the tree, the parents, the
// author and the committer. A line of the same name behind those says nothing
// (https://github.com/git/git/blob/v2.47.0/commit.c#L464), and what stands between them is an error.
func ParseCommit(raw []byte) (Commit, error) {
	header, message, _ := bytes.Cut(raw, []byte("\n\n"))
	c := Commit{Message: message}
	next := func(key string) (value []byte, has bool) {
		line, rest, _ := bytes.Cut(header, []byte("\n"))
		if value, has = bytes.CutPrefix(line, []byte(key+" ")); has {
			header = rest
		}
		return value, has
	}
	tree, has := next("tree")
	if !has || !plumbing.IsHash(string(tree)) {
		return Commit{}, errors.New("the commit object does not begin with its tree")
	}
	c.Tree = plumbing.NewHash(string(tree))
	for {
		parent, has := next("parent")
		if !has {
			break
		}
		if !plumbing.IsHash(string(parent)) {
			return Commit{}, errors.New("the commit object names a parent that is no commit")
		}
		c.Parents = append(c.Parents, plumbing.NewHash(string(parent)))
	}
	if c.Author, has = next("author"); has {
		c.Committer, has = next("committer")
	}
	if !has {
		return Commit{}, errors.New("the commit object does not name its author and its committer behind its parents")
	}
	return c, nil
}
