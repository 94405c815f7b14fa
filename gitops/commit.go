package gitops

import (
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

// Commit is one commit of the branch.
type Commit struct {
	// Hash is the full name of the commit in hexadecimal.
	Hash string
	// Parents are the full names of its parents, first parent first.
	Parents []string
	// Author wrote the change, at Time.
	Author Person
	// Time is when it was committed.
	Time time.Time
	// Subject is the first paragraph of the message as one line, cut where it is
	// long. No more of the message is read: anybody may have written it.
	Subject string
}

// Person is the author or the committer of a commit.
type Person struct{ Name, Email string }

// Snapshot is a commit with its tree.
type Snapshot struct {
	Commit Commit
	// Tree is the content of the commit. It implements fs.ReadDirFS,
	// fs.ReadFileFS, fs.StatFS and fs.ReadLinkFS, fetches a folder when it is
	// first read, and stops working when the context ends that the snapshot was
	// made with. Links inside the tree are followed; a link that leaves it and
	// a submodule are errors.
	Tree fs.FS
}

// commit is a Commit with the names that only this package needs.
type commit struct {
	Commit
	hash plumbing.Hash
	tree plumbing.Hash
}

// parseCommit reads the few lines of a commit that this package shows. go-git's
// reader takes the square of the length of a signature for it, and of a
// message, which anybody may have written, only the beginning is looked at.
func parseCommit(hash plumbing.Hash, raw []byte) (commit, error) {
	c, err := store.ParseCommit(raw)
	if err != nil {
		return commit{}, fmt.Errorf("reading commit %s: %w", hash, err)
	}
	out := commit{hash: hash, tree: c.Tree, Commit: Commit{Hash: hash.String(), Subject: subjectOf(c.Message)}}
	for _, parent := range c.Parents {
		out.Parents = append(out.Parents, parent.String())
	}
	author := signature(c.Author)
	out.Author = Person{oneline.Of(author.Name, subjectLimit), oneline.Of(author.Email, subjectLimit)}
	out.Time = signature(c.Committer).When
	return out, nil
}

// signature reads who has made a commit, and when, as far as that can be read.
func signature(line []byte) (s object.Signature) {
	s.Decode(line)
	return s
}

// check refuses a person that Git's own check of the repository would refuse.
func (p Person) check(role string) error {
	if s := p.signature(time.Time{}); s.Name == "" || s.Email == "" {
		return fmt.Errorf("%s %q <%s>: expected a name and an email address", role, oneline.Brief(p.Name), oneline.Brief(p.Email))
	}
	return nil
}

// signature leaves out what would break the commit's header.
func (p Person) signature(when time.Time) object.Signature {
	bare := strings.NewReplacer("<", "", ">", "")
	return object.Signature{
		Name:  oneline.Of(bare.Replace(p.Name), subjectLimit),
		Email: strings.ReplaceAll(oneline.Of(bare.Replace(p.Email), subjectLimit), " ", ""),
		When:  when,
	}
}
