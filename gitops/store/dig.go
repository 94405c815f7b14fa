package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
)

const (
	historyStep  = 32      // commits that the first deepening brings
	historyLimit = 1 << 15 // depth up to which a commit is looked for
)

// At brings a commit in, by its name. Where the server gives out no commit by its
// name, it is looked for behind the branch's tip. One that is not there is
// [remote.ErrNotFound].
func (s *Store) At(ctx context.Context, branch plumbing.ReferenceName, hash plumbing.Hash) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.can == nil {
		if _, err := s.ask(ctx, branch); err != nil {
			return err
		}
	}
	err := s.bring(ctx, hash)
	if err == nil || !remote.NotGivenOut(err) {
		return err
	}
	if s.remote.GivesByName(s.can) {
		return fmt.Errorf("%w in %s", remote.ErrNotFound, s.from)
	}
	return s.dig(ctx, branch, hash)
}

// past is what is here of the history behind a tip.
type past struct {
	tip     plumbing.Hash
	depth   int
	borders []plumbing.Hash // commits whose parents are not here
}

// dig looks for a commit behind the branch's tip, with the content of each one
// on the way.
func (s *Store) dig(ctx context.Context, branch plumbing.ReferenceName, hash plumbing.Hash) error {
	tip, err := s.ask(ctx, branch)
	if err != nil {
		return err
	}
	if err := s.bringWhole(ctx, tip); err != nil {
		return err
	}
	if s.past.tip != tip {
		s.past = past{tip: tip, depth: 1, borders: []plumbing.Hash{tip}}
	}
	for !s.here.has(hash) {
		err := s.deepen(ctx)
		if errors.Is(err, remote.ErrNoRoom) || err == nil && s.past.depth >= historyLimit && !s.here.has(hash) {
			return fmt.Errorf("%w among the newest commits of branch %s: its server gives out no commit by name (uploadpack.allowReachableSHA1InWant), and at most %d commits and %d MiB are looked through", remote.ErrNotFound, branch.Short(), historyLimit, remote.StoreLimit>>20)
		}
		if err != nil {
			return err
		}
		if len(s.past.borders) == 0 && !s.here.has(hash) {
			return fmt.Errorf("%w in the history of branch %s", remote.ErrNotFound, branch.Short())
		}
	}
	s.whole[hash] = true
	return nil
}

// deepen fetches more of the history behind the tip: four times as much.
func (s *Store) deepen(ctx context.Context) error {
	p := &s.past
	depth := min(max(historyStep, p.depth*4), historyLimit)
	tip := []plumbing.Hash{p.tip}
	moved, err := s.receive(ctx, remote.Request{Wants: tip, Haves: tip, Shallows: p.borders, Depth: depth, Filter: s.readable()})
	if err != nil {
		return err
	}
	p.depth = depth
	p.borders = slices.DeleteFunc(append(p.borders, moved.Shallows...), func(b plumbing.Hash) bool {
		return slices.Contains(moved.Unshallows, b)
	})
	return nil
}
