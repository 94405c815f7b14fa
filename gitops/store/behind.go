package store

import (
	"context"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
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
// first parents lead to, the newest first, and after each one what it has brought. A server that
// gives out no parts is not asked.
func (s *Store) Behind(ctx context.Context, tip plumbing.Hash, depth int, show func(Past)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.here.local != nil || !s.partial() {
		return nil
	}
	if err := history(ctx, s, tip, depth); err != nil {
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

// history brings in a commit and those behind it without what is in them.
func history(ctx context.Context, s *Store, tip plumbing.Hash, depth int) error {
	if s.behind == tip {
		return nil
	}
	q := single(tip)
	q.Depth = depth
	if err := s.fetch(ctx, q); err != nil {
		return err
	}
	s.behind = tip
	return nil
}
