package store

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
)

// A Past is a commit behind a tip.
type Past struct {
	Hash    plumbing.Hash
	Message []byte // of a long one, the beginning

	Committer []byte        // who has made it, and when, as it stands
	Tip       plumbing.Hash // on the branch's own line: the commit itself, or the merge that has brought it
}

// Behind brings in a commit and those behind it, as many as depth has in each line of
// history, without what is in them, and shows them: those that have been the branch's tip, which
// first parents lead to, the newest first, and after each one what it has brought. Nothing is shown where the
// history cannot be had.
func (s *Store) Behind(ctx context.Context, tip plumbing.Hash, depth int, show func(Past)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, err := history(ctx, s, tip, depth); !there {
		return err
	}
	var line []ancestor
	seen := map[plumbing.Hash]bool{}
	for next := tip; s.here.has(next) && !seen[next]; { // else it is below the depth
		seen[next] = true
		a, err := s.here.ancestor(next)
		if err != nil {
			return err
		}
		line, next = append(line, a), a.first()
	}
	brought := make([][]ancestor, len(line))
	for i, a := range slices.Backward(line) {
		var err error
		if brought[i], err = s.here.reached(a.Parents, seen); err != nil {
			return err
		}
	}
	for i, a := range line {
		for _, b := range append([]ancestor{a}, brought[i]...) {
			show(Past{Hash: b.hash, Message: b.Message, Committer: b.Committer, Tip: a.hash})
		}
	}
	return nil
}

// unaskedLimit is how many bytes a server may send for a history that gives out no commits without what is in them: those of text are
// far below it, and a rollback waits for them.
const unaskedLimit = 32 << 20

// history brings in a commit and those behind it, without what is in them, and tells whether they are here: they are not where the server
// would have to send more, which it is asked for once.
func history(ctx context.Context, s *Store, tip plumbing.Hash, depth int) (bool, error) {
	if s.here.local != nil || s.long && !s.partial() {
		return false, nil
	}
	if s.behind == tip {
		return true, nil
	}
	q := single(tip)
	if !s.partial() {
		q = remote.Request{Wants: []plumbing.Hash{tip}, Filter: s.readable(), Limit: unaskedLimit, CommitsOnly: true}
	}
	q.Depth = depth
	err := s.fetch(ctx, q)
	if s.long = remote.IsBound(err) && !s.partial(); s.long {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.behind = tip
	return true, nil
}
