package store

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
)

// commonLimit is how many commits of a branch another line of history may meet first.
const commonLimit = 64

// ErrSeveral is that two lines of history have no one commit in common that a merge goes by, or so many that nobody looks.
var ErrSeveral = errors.New("no one commit is the newest that both have behind them")

// Common is the newest commit that a tip and another commit have behind them, which a merge of the
// two goes by, else [ErrSeveral]; zero: nobody can tell, as the server does not give out what leads to it. The
// other commit itself need not be on the server: what its parents come from is looked for in the Store that has it, and then
// asked for, as far as depth.
func Common(ctx context.Context, s *Store, tip plumbing.Hash, in *Store, other plumbing.Hash, parents []plumbing.Hash, depth int) (plumbing.Hash, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if there, err := history(ctx, s, tip, depth); !there {
		return plumbing.ZeroHash, err
	}
	of, err := behindOf(s, tip)
	if err != nil || of[other] {
		return other, err
	}
	met, whole, err := meeting(in, parents, of)
	if err == nil && !whole {
		met, whole, err = meetingThere(ctx, s, other, parents, of, depth)
	}
	switch {
	case err != nil && remote.NotGivenOut(err):
		return plumbing.ZeroHash, nil
	case err != nil || !whole || len(met) > commonLimit:
		return plumbing.ZeroHash, cmp.Or(err, ErrSeveral)
	}
	return newest(s, tip, met)
}

// meeting are the commits of a tip that these and those behind them meet first, and whether all on the way are here.
func meeting(s *Store, from []plumbing.Hash, of map[plumbing.Hash]bool) (met []plumbing.Hash, whole bool, err error) {
	whole, err = walk(s, from, func(hash plumbing.Hash) bool {
		if of[hash] {
			met = append(met, hash)
		}
		return of[hash]
	})
	return met, whole, err
}

// meetingThere is the same by what the server gives out of the parents of a commit, or of the tip of a branch.
func meetingThere(ctx context.Context, s *Store, other plumbing.Hash, parents []plumbing.Hash, of map[plumbing.Hash]bool, depth int) ([]plumbing.Hash, bool, error) {
	for _, parent := range parents {
		if of[parent] {
			continue
		}
		_, err := history(ctx, s, parent, depth)
		if remote.NotGivenOut(err) {
			_, err = history(ctx, s, other, depth)
		}
		if err != nil {
			return nil, false, err
		}
	}
	return meeting(s, parents, of)
}

// newest is the one of these commits that has the others behind it, where all that the tip has
// besides is here: one of it could be behind the other line of history too, and not be seen.
func newest(s *Store, tip plumbing.Hash, all []plumbing.Hash) (plumbing.Hash, error) {
	for _, one := range all {
		of, err := behindOf(s, one)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if slices.ContainsFunc(all, func(hash plumbing.Hash) bool { return !of[hash] }) {
			continue
		}
		whole, err := walk(s, []plumbing.Hash{tip}, func(hash plumbing.Hash) bool { return of[hash] })
		if err != nil || !whole {
			return plumbing.ZeroHash, cmp.Or(err, ErrSeveral)
		}
		return one, nil
	}
	return plumbing.ZeroHash, ErrSeveral
}

// behindOf are a commit and those behind it that are here.
func behindOf(s *Store, tip plumbing.Hash) (map[plumbing.Hash]bool, error) {
	seen := map[plumbing.Hash]bool{}
	_, err := s.here.reached([]plumbing.Hash{tip}, seen)
	return seen, err
}

// walk follows the parents of commits, each line up to where it is to end, and tells whether all on the way
// is here.
func walk(s *Store, from []plumbing.Hash, ends func(plumbing.Hash) bool) (whole bool, err error) {
	whole = true
	seen := map[plumbing.Hash]bool{}
	for ; len(from) > 0; from = from[1:] {
		hash := from[0]
		if seen[hash] {
			continue
		}
		seen[hash] = true
		if ends(hash) {
			continue
		}
		if !s.here.has(hash) {
			whole = false
			continue
		}
		a, err := s.here.ancestor(hash)
		if err != nil {
			return false, err
		}
		from = append(from, a.Parents...)
	}
	return whole, nil
}
