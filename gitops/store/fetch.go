package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"

	"github.com/acme/knative-promote/gitops/remote"
)

// folderLimit is the number of entries up to which a folder's files are fetched
// together when one of them is read.
const folderLimit = 256

// togetherLimit bounds such a fetch, and smallFile the files in it, in bytes.
const (
	togetherLimit = 2 << 20
	smallFile     = 128 << 10
)

// partial tells whether the server gives out single trees and blobs, as far as is known.
func (s *Store) partial() bool {
	return !s.plain && s.filters() &&
		(s.can.Supports(capability.AllowTipSHA1InWant) || s.can.Supports(capability.AllowReachableSHA1InWant))
}

func (s *Store) filters() bool { return s.can != nil && s.can.Supports(capability.Filter) }

// single asks for one object without what is in it. This filter, and the one
// for small files, are all that GitHub takes.
func single(hash plumbing.Hash) remote.Request {
	return remote.Request{Wants: []plumbing.Hash{hash}, Filter: packp.FilterTreeDepth(0)}
}

// together asks for a folder with the small files in it and below.
func together(folder plumbing.Hash) remote.Request {
	return remote.Request{Wants: []plumbing.Hash{folder}, Filter: packp.FilterBlobLimit(smallFile, packp.BlobLimitPrefixNone), Limit: togetherLimit}
}

// bring makes sure that a commit is here and its content can be read.
func (s *Store) bring(ctx context.Context, hash plumbing.Hash) error {
	q := single(hash)
	q.Depth = 1
	return s.need(ctx, hash, hash, q)
}

// need fetches an object of a commit by one of the requests for a part, if it
// is missing. Where the server gives no parts out, the whole commit is fetched.
func (s *Store) need(ctx context.Context, commit, hash plumbing.Hash, parts ...remote.Request) error {
	if s.here.has(hash) && (s.here.local != nil || s.partial() || s.whole[commit]) {
		return nil
	}
	if s.here.local != nil {
		return fmt.Errorf("reading %s: object %s is not in the checkout", s.from, hash)
	}
	var refused error
	for _, part := range parts {
		if !s.partial() {
			break
		}
		refused = s.fetch(ctx, part)
		if _, left := s.left[hash]; refused == nil && (left || s.here.has(hash)) {
			s.parts = true
			return nil
		}
		if ctx.Err() != nil || errors.Is(refused, remote.ErrAuth) {
			return refused
		}
	}
	if s.parts {
		return cmp.Or(refused, s.missing(hash))
	}
	if err := s.bringWhole(ctx, commit); err != nil {
		return err
	}
	s.plain = true
	if _, left := s.left[hash]; !left && !s.here.has(hash) {
		return s.missing(hash)
	}
	return nil
}

// missing is an object that did not come. In a whole commit that can be a file
// for its size, of which then nothing is known.
func (s *Store) missing(hash plumbing.Hash) error {
	if s.plain {
		return fmt.Errorf("reading %s: the server did not send object %s, or it has more than %d bytes, which are not read", s.from, hash, remote.FileLimit)
	}
	return fmt.Errorf("reading %s: the server did not send object %s", s.from, hash)
}

// bringWhole is for a server that gives no parts out: the commit with all its
// content but without its history, or the difference to what is here already.
func (s *Store) bringWhole(ctx context.Context, commit plumbing.Hash) error {
	if s.whole[commit] {
		return nil
	}
	s.makeRoom()
	have := slices.Collect(maps.Keys(s.whole))
	q := remote.Request{Wants: []plumbing.Hash{commit}, Haves: have, Shallows: have, Depth: 1, Filter: s.readable()}
	if _, err := s.receive(ctx, q); err != nil {
		return err
	}
	s.whole[commit] = true
	return nil
}

// readable leaves out the files that are too large to be read, where the server
// can do that.
func (s *Store) readable() packp.Filter {
	if !s.filters() {
		return ""
	}
	return packp.FilterBlobLimit(remote.FileLimit+1, packp.BlobLimitPrefixNone)
}

// fetch asks the server for objects and keeps them.
func (s *Store) fetch(ctx context.Context, q remote.Request) error {
	s.makeRoom()
	_, err := s.receive(ctx, q)
	return err
}

// makeRoom begins anew when half of the memory for objects is in use: a run
// that lasts for hours sees many commits of others.
func (s *Store) makeRoom() {
	if s.here.cost > remote.StoreLimit/2 {
		s.forget()
	}
}

func (s *Store) receive(ctx context.Context, q remote.Request) (packp.ShallowUpdate, error) {
	q.Room = remote.StoreLimit - s.here.cost
	got, err := s.remote.Fetch(ctx, s.can, q)
	if err != nil {
		return packp.ShallowUpdate{}, err
	}
	for hash, found := range got.Objects {
		s.here.keep(hash, found)
	}
	maps.Copy(s.left, got.Left)
	return got.Borders, nil
}
