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
	if s.local != nil || !s.partial() {
		return nil
	}
	if err := history(ctx, s, tip, depth); err != nil {
		return err
	}
	var line []ancestor
	seen := map[plumbing.Hash]bool{}
	for next := tip; s.has(next) && !seen[next]; { // else it is below the depth
		seen[next] = true
		a, err := s.ancestor(next)
		if err != nil {
			return err
		}
		line, next = append(line, a), a.first()
	}
	brought := make([][]ancestor, len(line))
	for i, a := range slices.Backward(line) {
		var err error
		if brought[i], err = s.reached(a.Parents, seen); err != nil {
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

// reached are the commits that these lead to, the newest first, but for those that were seen.
func (s *Store) reached(left []plumbing.Hash, seen map[plumbing.Hash]bool) (all []ancestor, err error) {
	for ; len(left) > 0; left = left[1:] {
		if seen[left[0]] || !s.has(left[0]) {
			continue
		}
		seen[left[0]] = true
		a, err := s.ancestor(left[0])
		if err != nil {
			return nil, err
		}
		all, left = append(all, a), append(left, a.Parents...)
	}
	return all, nil
}

// An ancestor is a commit without what is in it.
type ancestor struct {
	hash plumbing.Hash
	Commit
}

// ancestor reads a commit that is here.
func (s *Store) ancestor(hash plumbing.Hash) (ancestor, error) {
	raw, err := s.content(plumbing.CommitObject, hash)
	if err != nil {
		return ancestor{}, err
	}
	c, err := ParseCommit(raw)
	return ancestor{hash, c}, err
}

func (a ancestor) first() plumbing.Hash {
	if len(a.Parents) == 0 {
		return plumbing.ZeroHash
	}
	return a.Parents[0]
}
