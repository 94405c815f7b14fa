package gitops

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// commit is a Commit with the names that only this package needs.
type commit struct {
	Commit
	hash    plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash
}

// readCommit takes a commit apart that is in memory; o.mu is held.
func (o *objects) readCommit(hash plumbing.Hash) (commit, error) {
	c, err := object.GetCommit(o.store, hash)
	if err != nil {
		return commit{}, fmt.Errorf("reading commit %s: %w", hash, err)
	}
	m := parseMessage(c.Message)
	out := commit{hash: hash, tree: c.TreeHash, parents: c.ParentHashes, Commit: Commit{
		Hash:     hash.String(),
		Author:   Person{c.Author.Name, c.Author.Email},
		Time:     c.Committer.When,
		Subject:  m.subject,
		Body:     m.body,
		Trailers: m.trailers,
	}}
	for _, p := range c.ParentHashes {
		out.Parents = append(out.Parents, p.String())
	}
	return out, nil
}

// newCommit writes the commit object of a change.
func newCommit(tree, parent plumbing.Hash, author, committer Person, now time.Time, m message) (plumbing.EncodedObject, error) {
	encoded := &plumbing.MemoryObject{}
	c := object.Commit{
		Author:       author.signature(now),
		Committer:    committer.signature(now),
		Message:      m.String(),
		TreeHash:     tree,
		ParentHashes: []plumbing.Hash{parent},
	}
	if err := c.Encode(encoded); err != nil {
		return nil, fmt.Errorf("writing the commit: %w", err)
	}
	return encoded, nil
}

// check refuses a person that Git's own check of the repository would refuse.
func (p Person) check(role string) error {
	if s := p.signature(time.Time{}); s.Name == "" || s.Email == "" {
		return fmt.Errorf("%s %q <%s>: expected a name and an email address", role, clean(p.Name), clean(p.Email))
	}
	return nil
}

// signature leaves out what would break the commit's header.
func (p Person) signature(when time.Time) object.Signature {
	bare := strings.NewReplacer("<", "", ">", "")
	return object.Signature{
		Name:  cut(fold(bare.Replace(p.Name)), subjectLimit),
		Email: cut(strings.ReplaceAll(fold(bare.Replace(p.Email)), " ", ""), subjectLimit),
		When:  when,
	}
}
