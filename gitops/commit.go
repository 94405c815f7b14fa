package gitops

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

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
	header, text, _ := bytes.Cut(raw, []byte("\n\n"))
	out := commit{hash: hash, Commit: Commit{Hash: hash.String(), Subject: subjectOf(text)}}
	var author, committer object.Signature
	for line := range bytes.Lines(header) {
		key, value, _ := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte(" "))
		switch string(key) {
		case "tree":
			out.tree = plumbing.NewHash(string(value))
		case "parent":
			out.Parents = append(out.Parents, plumbing.NewHash(string(value)).String())
		case "author":
			author.Decode(value)
		case "committer":
			committer.Decode(value)
		}
	}
	if out.tree.IsZero() {
		return commit{}, fmt.Errorf("reading commit %s: it names no tree", hash)
	}
	out.Author = Person{oneline.Of(author.Name, subjectLimit), oneline.Of(author.Email, subjectLimit)}
	out.Time = committer.When
	return out, nil
}

// newCommit writes the commit object of a change, signed where the Repo signs.
func (r *Repo) newCommit(tree, parent plumbing.Hash, m message) (plumbing.EncodedObject, error) {
	now := r.now()
	c := object.Commit{
		Author:       r.Author.signature(now),
		Committer:    r.Committer.signature(now),
		Message:      m.String(),
		TreeHash:     tree,
		ParentHashes: []plumbing.Hash{parent},
	}
	if err := r.sign(&c); err != nil {
		return nil, err
	}
	encoded := &plumbing.MemoryObject{}
	if err := c.Encode(encoded); err != nil {
		return nil, fmt.Errorf("writing the commit: %w", err)
	}
	return encoded, nil
}

// sign puts the signature into the commit. Git has one header for those of
// OpenPGP and of SSH, and tells them apart by their first line.
func (r *Repo) sign(c *object.Commit) error {
	if r.Sign == nil {
		return nil
	}
	encoded := &plumbing.MemoryObject{}
	if err := c.EncodeWithoutSignature(encoded); err != nil {
		return fmt.Errorf("writing the commit: %w", err)
	}
	content, err := store.ReadObject(encoded)
	if err != nil {
		return err
	}
	c.PGPSignature, err = r.Sign(content)
	return err
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
