package store

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/storer"

	"github.com/acme/knative-promote/gitops/remote"
)

// objects are those that are here: in memory, or in a checkout.
type objects struct {
	local storer.EncodedObjectStorer // a checkout's, which is never fetched to; nil: none
	kept  map[plumbing.Hash]remote.Object
	cost  int64 // of what is kept, in bytes
}

// has tells whether an object is here.
func (o *objects) has(hash plumbing.Hash) bool {
	if o.local != nil {
		return o.local.HasEncodedObject(hash) == nil
	}
	_, ok := o.kept[hash]
	return ok
}

// content returns an object that is here.
func (o *objects) content(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	if o.local != nil {
		found, err := o.local.EncodedObject(kind, hash)
		if err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", kind, hash, err)
		}
		return ReadObject(found)
	}
	found := o.kept[hash]
	if found.Kind != kind {
		return nil, fmt.Errorf("object %s is a %s, expected a %s", hash, found.Kind, kind)
	}
	return found.Content, nil
}

// keep adds an object to those that are here.
func (o *objects) keep(hash plumbing.Hash, found remote.Object) {
	if _, twice := o.kept[hash]; !twice {
		o.kept[hash] = found
		o.cost += found.Cost()
	}
}

// An ancestor is a commit without what is in it.
type ancestor struct {
	hash plumbing.Hash
	Commit
}

func (a ancestor) first() plumbing.Hash {
	if len(a.Parents) == 0 {
		return plumbing.ZeroHash
	}
	return a.Parents[0]
}

// ancestor reads a commit that is here.
func (o *objects) ancestor(hash plumbing.Hash) (ancestor, error) {
	raw, err := o.content(plumbing.CommitObject, hash)
	if err != nil {
		return ancestor{}, err
	}
	c, err := ParseCommit(raw)
	return ancestor{hash, c}, err
}

// reached are the commits that these lead to, the newest first, but for those that were seen.
func (o *objects) reached(left []plumbing.Hash, seen map[plumbing.Hash]bool) (all []ancestor, err error) {
	for ; len(left) > 0; left = left[1:] {
		if seen[left[0]] || !o.has(left[0]) {
			continue
		}
		seen[left[0]] = true
		a, err := o.ancestor(left[0])
		if err != nil {
			return nil, err
		}
		all, left = append(all, a), append(left, a.Parents...)
	}
	return all, nil
}
