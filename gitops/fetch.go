package gitops

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
func (o *objects) partial() bool {
	return !o.plain && o.filters() &&
		(o.can.Supports(capability.AllowTipSHA1InWant) || o.can.Supports(capability.AllowReachableSHA1InWant))
}

func (o *objects) filters() bool { return o.can != nil && o.can.Supports(capability.Filter) }

// single asks for one object without what is in it. This filter, and the one
// for small files, are all that GitHub takes.
func single(hash plumbing.Hash) request {
	return request{wants: []plumbing.Hash{hash}, filter: packp.FilterTreeDepth(0)}
}

// together asks for a folder with the small files in it and below.
func together(folder plumbing.Hash) request {
	return request{wants: []plumbing.Hash{folder}, filter: packp.FilterBlobLimit(smallFile, packp.BlobLimitPrefixNone), limit: togetherLimit}
}

// bring makes sure that a commit is here and its content can be read.
func (o *objects) bring(ctx context.Context, hash plumbing.Hash) (commit, error) {
	q := single(hash)
	q.depth = 1
	if err := o.need(ctx, hash, hash, q); err != nil {
		return commit{}, err
	}
	return o.commit(hash)
}

// need fetches an object of a commit by one of the requests for a part, if it
// is missing. Where the server gives no parts out, the whole commit is fetched.
func (o *objects) need(ctx context.Context, commit, hash plumbing.Hash, parts ...request) error {
	if o.has(hash) && (o.local != nil || o.partial() || o.whole[commit]) {
		return nil
	}
	if o.local != nil {
		return fmt.Errorf("reading %s: object %s is not in the checkout", o.from, hash)
	}
	var refused error
	for _, part := range parts {
		if !o.partial() {
			break
		}
		refused = o.fetch(ctx, part)
		if _, left := o.left[hash]; refused == nil && (left || o.has(hash)) {
			o.parts = true
			return nil
		}
		if ctx.Err() != nil || errors.Is(refused, ErrAuth) {
			return refused
		}
	}
	if o.parts {
		return cmp.Or(refused, o.missing(hash))
	}
	if err := o.bringWhole(ctx, commit); err != nil {
		return err
	}
	o.plain = true
	if _, left := o.left[hash]; !left && !o.has(hash) {
		return o.missing(hash)
	}
	return nil
}

// missing is an object that did not come. In a whole commit that can be a file
// for its size, of which then nothing is known.
func (o *objects) missing(hash plumbing.Hash) error {
	if o.plain {
		return fmt.Errorf("reading %s: the server did not send object %s, or it has more than %d bytes, which are not read", o.from, hash, fileLimit)
	}
	return fmt.Errorf("reading %s: the server did not send object %s", o.from, hash)
}

// bringWhole is for a server that gives no parts out: the commit with all its
// content but without its history, or the difference to what is here already.
func (o *objects) bringWhole(ctx context.Context, commit plumbing.Hash) error {
	if o.whole[commit] {
		return nil
	}
	o.makeRoom()
	have := slices.Collect(maps.Keys(o.whole))
	q := request{wants: []plumbing.Hash{commit}, haves: have, shallows: have, depth: 1, filter: o.readable()}
	if _, err := o.receive(ctx, q); err != nil {
		return err
	}
	o.whole[commit] = true
	return nil
}

// readable leaves out the files that are too large to be read, where the server
// can do that.
func (o *objects) readable() packp.Filter {
	if !o.filters() {
		return ""
	}
	return packp.FilterBlobLimit(fileLimit+1, packp.BlobLimitPrefixNone)
}

// fetch asks the server for objects and keeps them.
func (o *objects) fetch(ctx context.Context, q request) error {
	o.makeRoom()
	_, err := o.receive(ctx, q)
	return err
}

// makeRoom begins anew when half of the memory for objects is in use: a run
// that lasts for hours sees many commits of others.
func (o *objects) makeRoom() {
	if o.cost > storeLimit/2 {
		o.forget()
	}
}

func (o *objects) receive(ctx context.Context, q request) (packp.ShallowUpdate, error) {
	q.room = storeLimit - o.cost
	got, err := o.remote.fetch(ctx, o.can, q)
	if err != nil {
		return packp.ShallowUpdate{}, err
	}
	for hash, found := range got.objects {
		o.keep(hash, found)
	}
	maps.Copy(o.left, got.left)
	return got.borders, nil
}

func (o *objects) keep(hash plumbing.Hash, found stored) {
	if _, twice := o.kept[hash]; !twice {
		o.kept[hash] = found
		o.cost += found.cost()
	}
}
