package store

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

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/oneline"
)

// Store is the part of the repository that is in memory. What is missing is
// fetched when it is asked for, so anything may be forgotten.
type Store struct {
	remote *remote.Remote // nil: all is local
	from   string         // the remote or the checkout, fit for an error

	// mu is held over a fetch, so that nothing is fetched twice. The methods that Repo
	// and its trees call take it: At, Behind, Where, Tip, Read, Tree, Blob, Size and KeepCommit, and Here.
	// It is held in all others.
	mu     sync.Mutex
	here   objects
	left   map[plumbing.Hash]int64 // sizes of files that came and were not kept, and of those of a checkout that were asked for
	trees  map[plumbing.Hash]Tree
	past   past
	behind plumbing.Hash    // the tip behind which commits are here
	long   bool             // the history is more than a server is asked for that gives out no parts
	can    *capability.List // what the server says that it can; nil: it was not asked yet
	known  bool             // the branch has been there
	whole  map[plumbing.Hash]bool
	alone  map[plumbing.Hash]bool // folders whose files are fetched one by one
	parts  bool                   // the server has given out a part, so no whole commit is fetched
	plain  bool                   // a whole commit came in the place of a part, so no part is asked for
}

// New is what is read of a remote; there is nothing in it yet.
func New(r *remote.Remote) *Store {
	s := &Store{remote: r, from: r.String()}
	s.forget()
	return s
}

// NewLocal is a repository in a folder, of which nothing is fetched.
func NewLocal(local storer.EncodedObjectStorer, dir string) *Store {
	s := &Store{here: objects{local: local}, from: oneline.Brief(dir)}
	s.forget()
	return s
}

// forget drops everything that can be fetched again.
func (s *Store) forget() {
	s.here.kept, s.here.cost = map[plumbing.Hash]remote.Object{}, 0
	s.left = map[plumbing.Hash]int64{}
	s.trees = map[plumbing.Hash]Tree{}
	s.whole = map[plumbing.Hash]bool{}
	s.alone = map[plumbing.Hash]bool{}
	s.past, s.behind = past{}, plumbing.ZeroHash
}

// Where asks the server for the newest commit of a branch; zero: there is none.
func (s *Store) Where(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	references, err := s.references(ctx, branch)
	return references[branch.String()], err
}

// Tip asks where a branch is and brings its newest commit in.
func (s *Store) Tip(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tip, err := s.ask(ctx, branch)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return tip, s.bring(ctx, tip)
}

func (s *Store) ask(ctx context.Context, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	references, err := s.references(ctx, branch)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	tip, ok := references[branch.String()]
	if !ok {
		return plumbing.ZeroHash, s.remote.NoBranch(branch, references, s.known)
	}
	s.known = true
	return tip, nil
}

// references asks the server where a branch is, what others there are, and what it can.
func (s *Store) references(ctx context.Context, branch plumbing.ReferenceName) (map[string]plumbing.Hash, error) {
	seen, err := s.remote.Advertised(ctx, branch)
	if err != nil {
		return nil, err
	}
	s.can = seen.Capabilities
	return seen.References, nil
}

// Tree returns a folder without what is in it.
func (s *Store) Tree(ctx context.Context, commit, hash plumbing.Hash) (Tree, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t, ok := s.trees[hash]; ok {
		return t, nil
	}
	if err := s.need(ctx, commit, hash, single(hash)); err != nil {
		return nil, err
	}
	raw, err := s.here.content(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	t, err := ParseTree(raw)
	if err != nil {
		return nil, fmt.Errorf("reading folder %s: %w", hash, err)
	}
	s.trees[hash] = t
	s.here.cost += t.cost()
	return t, nil
}

// Blob returns a file's content.
func (s *Store) Blob(ctx context.Context, commit, folder, hash plumbing.Hash) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	size, err := s.sizeOf(ctx, commit, folder, hash)
	switch {
	case err != nil:
		return nil, err
	case size > remote.FileLimit:
		return nil, &remote.TooLarge{Bytes: size}
	case !s.here.has(hash):
		return nil, fmt.Errorf("has %d bytes, and its server gives out no single files: of a whole commit, %d MiB are kept, the smallest files first", size, remote.StoreLimit>>20)
	}
	content, err := s.here.content(plumbing.BlobObject, hash)
	return slices.Clone(content), err // the caller may write to it
}

// Size returns how many bytes a file has, which is fetched for that.
func (s *Store) Size(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sizeOf(ctx, commit, folder, hash)
}

// Here returns how many bytes a file of a checkout has, by its header; 0 where the checkout does not have the file, or
// the store is of a remote.
func Here(s *Store, hash plumbing.Hash) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here.local == nil {
		return 0, nil
	}
	if size, known := s.left[hash]; known { // of a delta the header is behind what must be unpacked
		return size, nil
	}
	size, err := s.here.local.EncodedObjectSize(hash)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return 0, nil
	}
	if err == nil {
		s.left[hash] = size
	}
	return size, err
}

// sizeOf brings a file in unless it is too large for that. With it come the
// small files of its folder and below, because whoever reads one reads the next.
func (s *Store) sizeOf(ctx context.Context, commit, folder, hash plumbing.Hash) (int64, error) {
	if size, left := s.left[hash]; left && (size > remote.FileLimit || !s.partial()) {
		return size, nil
	}
	parts := []remote.Request{single(hash)}
	if len(s.trees[folder]) <= folderLimit && !s.alone[folder] {
		parts = []remote.Request{together(folder), single(hash)}
	}
	err := s.need(ctx, commit, hash, parts...)
	s.alone[folder] = true
	if size, left := s.left[hash]; left {
		return size, nil
	}
	if err != nil {
		return 0, err
	}
	if s.here.local != nil {
		return s.here.local.EncodedObjectSize(hash)
	}
	return int64(len(s.here.kept[hash].Content)), nil
}

// Read returns an object that is here.
func (s *Store) Read(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.here.content(kind, hash)
}

// KeepCommit keeps the objects of a commit that was published on top of its parent.
func (s *Store) KeepCommit(parent, commit plumbing.Hash, made []plumbing.EncodedObject) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, object := range made {
		content, err := readObject(object, remote.TreeLimit)
		if err != nil {
			return err
		}
		s.here.keep(object.Hash(), remote.Object{Kind: object.Type(), Content: content})
	}
	if s.whole[parent] {
		s.whole[commit] = true
	}
	return nil
}

// ReadObject reads an object of go-git, of at most [remote.FileLimit] bytes.
func ReadObject(found plumbing.EncodedObject) (content []byte, err error) {
	return readObject(found, remote.FileLimit)
}

func readObject(found plumbing.EncodedObject, limit int64) (content []byte, err error) {
	if found.Size() > limit {
		return nil, fmt.Errorf("reading %s %s: %w", found.Type(), found.Hash(), &remote.TooLarge{Bytes: found.Size()})
	}
	r, err := found.Reader()
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", found.Type(), found.Hash(), err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}
