package gitops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/storer"
)

// objects is the part of the repository that is in memory. What is missing is
// fetched when it is asked for, so anything may be forgotten.
type objects struct {
	remote *remote                    // nil: all is local
	from   string                     // the remote or the checkout, fit for an error
	local  storer.EncodedObjectStorer // a checkout's, which is never fetched to; nil: none

	// mu is held over a fetch, so that nothing is fetched twice. The methods that Repo
	// and its trees call take it: at, where, tip, tree, blob, size and keepPublished. It is
	// held in all others, but for those that Checkout calls before it hands objects on.
	mu    sync.Mutex
	kept  map[plumbing.Hash]stored
	cost  int64                   // of what is kept, in bytes
	left  map[plumbing.Hash]int64 // sizes of files that came and were not kept
	trees map[plumbing.Hash]tree
	past  past
	can   *capability.List // what the server says that it can; nil: it was not asked yet
	known bool             // the branch has been there
	whole map[plumbing.Hash]bool
	alone map[plumbing.Hash]bool // folders whose files are fetched one by one
	parts bool                   // the server has given out a part, so no whole commit is fetched
	plain bool                   // a whole commit came in the place of a part, so no part is asked for
}

func newObjects(r *remote, from string) *objects {
	o := &objects{remote: r, from: from}
	o.forget()
	return o
}

// forget drops everything that can be fetched again.
func (o *objects) forget() {
	o.kept, o.cost = map[plumbing.Hash]stored{}, 0
	o.left = map[plumbing.Hash]int64{}
	o.trees = map[plumbing.Hash]tree{}
	o.whole = map[plumbing.Hash]bool{}
	o.alone = map[plumbing.Hash]bool{}
	o.past = past{}
}

// where asks the server for the newest commit of a branch; zero: there is none.
func (o *objects) where(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	references, err := o.references(ctx)
	return references[branch.String()], err
}

// tip asks where a branch is and brings its newest commit in.
func (o *objects) tip(ctx context.Context, branch plumbing.ReferenceName) (commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	tip, err := o.ask(ctx, branch)
	if err != nil {
		return commit{}, err
	}
	return o.bring(ctx, tip)
}

func (o *objects) ask(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	references, err := o.references(ctx)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tip, ok := references[branch.String()]
	if !ok {
		return plumbing.ZeroHash, o.remote.noBranch(branch, references, o.known)
	}
	o.known = true
	return tip, nil
}

// references asks the server where its branches are, and what it can.
func (o *objects) references(ctx context.Context) (map[string]plumbing.Hash, error) {
	seen, err := o.remote.advertised(ctx)
	if err != nil {
		return nil, err
	}
	o.can = seen.capabilities
	return seen.references, nil
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
	o.cost += t.cost()
	return t, nil
}

// blob returns a file's content.
func (o *objects) blob(ctx context.Context, commit, folder, hash plumbing.Hash) ([]byte, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	size, err := o.sizeOf(ctx, commit, folder, hash)
	switch {
	case err != nil:
		return nil, err
	case size > fileLimit:
		return nil, &oversize{size}
	case !o.has(hash):
		return nil, fmt.Errorf("has %d bytes, and its server gives out no single files: of a whole commit, %d MiB are kept, the smallest files first", size, storeLimit>>20)
	}
	content, err := o.content(plumbing.BlobObject, hash)
	return slices.Clone(content), err // the caller may write to it
}

// size returns how many bytes a file has, which is fetched for that.
func (o *objects) size(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sizeOf(ctx, commit, folder, hash)
}

// sizeOf brings a file in unless it is too large for that. With it come the
// small files of its folder and below, because whoever reads one reads the next.
func (o *objects) sizeOf(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	if size, left := o.left[hash]; left && (size > fileLimit || !o.partial()) {
		return size, nil
	}
	parts := []request{single(hash)}
	if len(o.trees[folder]) <= folderLimit && !o.alone[folder] {
		parts = []request{together(folder), single(hash)}
	}
	err := o.need(ctx, commit, hash, parts...)
	o.alone[folder] = true
	if size, left := o.left[hash]; left {
		return size, nil
	}
	if err != nil {
		return 0, err
	}
	if o.local != nil {
		return o.local.EncodedObjectSize(hash)
	}
	return int64(len(o.kept[hash].content)), nil
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
		return readObject(found)
	}
	found := o.kept[hash]
	if found.kind != kind {
		return nil, fmt.Errorf("object %s is a %s, expected a %s", hash, found.kind, kind)
	}
	return found.content, nil
}

func readObject(found plumbing.EncodedObject) (content []byte, err error) {
	if found.Size() > fileLimit {
		return nil, fmt.Errorf("reading %s %s: %w", found.Type(), found.Hash(), &oversize{found.Size()})
	}
	r, err := found.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", found.Type(), found.Hash(), err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}

// commit returns a commit that is here.
func (o *objects) commit(hash plumbing.Hash) (commit, error) {
	raw, err := o.content(plumbing.CommitObject, hash)
	if err != nil {
		return commit{}, err
	}
	return parseCommit(hash, raw)
}
