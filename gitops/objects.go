package gitops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/memory"
)

// folderLimit is the number of entries up to which a folder's files and
// subfolders are fetched together when one of them is read.
const folderLimit = 256

// fileLimit is the number of bytes up to which a file is read.
const fileLimit = 16 << 20

// objects is the part of the repository that is in memory. What is missing is
// fetched when it is asked for.
type objects struct {
	remote *remote

	mu    sync.Mutex // held over a fetch: nothing is fetched twice
	store storer.EncodedObjectStorer
	trees map[plumbing.Hash]tree
	past  *past
	can   *capability.List
	whole map[plumbing.Hash]bool // commits that came with all their content
	parts bool                   // the server has given out a part
	plain bool                   // the server gives no parts out
}

func newObjects(r *remote) *objects {
	return &objects{
		remote: r,
		store:  memory.NewStorage(),
		trees:  map[plumbing.Hash]tree{},
		whole:  map[plumbing.Hash]bool{},
		past:   newPast(plumbing.ZeroHash),
		can:    capability.NewList(),
	}
}

// where asks the server for the newest commit of a branch.
func (o *objects) where(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ask(ctx, branch)
}

// tip asks where a branch is and brings its newest commit in.
func (o *objects) tip(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tip, err := o.ask(ctx, branch)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return tip, o.bring(ctx, tip)
}

func (o *objects) ask(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	seen, err := o.remote.advertised(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tip, ok := seen.references[branch.String()]
	if !ok {
		return plumbing.ZeroHash, o.remote.noBranch(branch, seen.references)
	}
	o.can = seen.capabilities
	if o.past.tip != tip {
		o.past = newPast(tip)
	}
	return tip, nil
}

// holds tells whether an object is in memory.
func (o *objects) holds(hash plumbing.Hash) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.has(hash)
}

// partial tells whether the server gives out single trees and blobs, as far as is known.
func (o *objects) partial() bool {
	return !o.plain && o.can.Supports(capability.Filter) &&
		(o.can.Supports(capability.AllowTipSHA1InWant) || o.can.Supports(capability.AllowReachableSHA1InWant))
}

// bring makes sure that a commit is in memory and its content can be read.
func (o *objects) bring(ctx context.Context, commit plumbing.Hash) error {
	q := request{wants: []plumbing.Hash{commit}, depth: 1, filter: packp.FilterTreeDepth(1)}
	return o.need(ctx, commit, commit, q)
}

// bringWhole is for a server that gives no parts out: the commit with all its
// content but without its history, or the difference to what is here already.
func (o *objects) bringWhole(ctx context.Context, commit plumbing.Hash) error {
	if o.whole[commit] {
		return nil
	}
	have := slices.Collect(maps.Keys(o.whole))
	err := o.fetch(ctx, request{wants: []plumbing.Hash{commit}, haves: have, shallows: have, depth: 1})
	if err != nil {
		return err
	}
	o.whole[commit] = true
	return nil
}

func (o *objects) has(hash plumbing.Hash) bool {
	return o.store.HasEncodedObject(hash) == nil
}

// fetch asks the server for objects and keeps them.
func (o *objects) fetch(ctx context.Context, q request) error {
	_, err := o.receive(ctx, q)
	return err
}

func (o *objects) receive(ctx context.Context, q request) (packp.ShallowUpdate, error) {
	got, err := o.remote.fetch(ctx, o.can, q)
	if err != nil {
		return packp.ShallowUpdate{}, err
	}
	for _, object := range got.objects.Objects {
		if err := o.keep(object); err != nil {
			return packp.ShallowUpdate{}, err
		}
	}
	return got.borders, nil
}

func (o *objects) keep(object plumbing.EncodedObject) error {
	if _, err := o.store.SetEncodedObject(object); err != nil {
		return fmt.Errorf("keeping an object: %w", err)
	}
	return nil
}

// need fetches an object of a commit by one of the requests for a part, if it
// is missing. Where the server gives no parts out, the whole commit is fetched.
func (o *objects) need(ctx context.Context, commit, hash plumbing.Hash, parts ...request) error {
	if o.has(hash) && (o.partial() || o.whole[commit]) {
		return nil
	}
	var refused error
	for _, part := range parts {
		if !o.partial() {
			break
		}
		if refused = o.fetch(ctx, part); refused == nil && o.has(hash) {
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
	if !o.has(hash) {
		return o.missing(hash)
	}
	return nil
}

func (o *objects) missing(hash plumbing.Hash) error {
	return fmt.Errorf("reading %s: the server did not send object %s", clean(o.remote.address), hash)
}

// single asks for one tree or blob without what is in it.
func single(hash plumbing.Hash) request {
	return request{wants: []plumbing.Hash{hash}, filter: packp.FilterTreeDepth(0)}
}

// tree returns a folder without what is in it.
func (o *objects) tree(ctx context.Context, commit, hash plumbing.Hash) (tree, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if t, ok := o.trees[hash]; ok {
		return t, nil
	}
	if err := o.need(ctx, commit, hash, single(hash)); err != nil {
		return nil, err
	}
	raw, err := o.content(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	t, err := parseTree(raw)
	if err != nil {
		return nil, fmt.Errorf("reading folder %s: %w", hash, err)
	}
	o.trees[hash] = t
	return t, nil
}

// blob returns a file's content.
func (o *objects) blob(ctx context.Context, commit, folder, hash plumbing.Hash) ([]byte, error) {
	switch size, err := o.size(ctx, commit, folder, hash); {
	case err != nil:
		return nil, err
	case size > fileLimit:
		return nil, fmt.Errorf("has %d bytes; at most %d are read", size, fileLimit)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.content(plumbing.BlobObject, hash)
}

// size returns how many bytes a file has, which is fetched for that. With it
// come the other files and the folders of the folder that it is in, because who
// reads one reads the next.
func (o *objects) size(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	parts := []request{single(hash)}
	if len(o.trees[folder]) <= folderLimit {
		// Git counts the depth from what is in a tree that is asked for by name.
		whole := request{wants: []plumbing.Hash{folder}, filter: packp.FilterTreeDepth(1)}
		parts = []request{whole, single(hash)}
	}
	if err := o.need(ctx, commit, hash, parts...); err != nil {
		return 0, err
	}
	size, err := o.store.EncodedObjectSize(hash)
	if err != nil {
		return 0, fmt.Errorf("reading the size of blob %s: %w", hash, err)
	}
	return size, nil
}

// commit returns a commit that is in memory.
func (o *objects) commit(hash plumbing.Hash) (commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.readCommit(hash)
}

func (o *objects) content(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	object, err := o.store.EncodedObject(kind, hash)
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, hash, err)
	}
	r, err := object.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", kind, hash, err)
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}
