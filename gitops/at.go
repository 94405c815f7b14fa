package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/internal/oneline"
)

const (
	historyStep  = 32      // commits that the first deepening brings
	historyLimit = 1 << 15 // depth up to which a commit is looked for
)

// At reads a commit by its full name. It need not be in the branch: what the
// name stands for is up to whoever gives it. Servers give out commits by name;
// where one does not, as plain Git over ssh or a path, the commit is looked for
// behind the branch's tip, as far as memory allows. One that is not there is
// ErrNotFound.
func (r *Repo) At(ctx context.Context, name string) (Snapshot, error) {
	lower := strings.ToLower(name)
	if !plumbing.IsHash(lower) {
		return Snapshot{}, fmt.Errorf("commit %q: expected its full name of 40 hexadecimal digits, as git rev-parse prints it", oneline.Brief(name))
	}
	c, err := r.objects.at(ctx, r.branch, plumbing.NewHash(lower))
	if err != nil {
		return Snapshot{}, fmt.Errorf("commit %s: %w", lower, err)
	}
	return r.snapshot(ctx, c), nil
}

func (o *objects) at(ctx context.Context, branch plumbing.ReferenceName, hash plumbing.Hash) (commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.can == nil {
		if _, err := o.ask(ctx, branch); err != nil {
			return commit{}, err
		}
	}
	c, err := o.bring(ctx, hash)
	if err == nil || !notGivenOut(err) {
		return c, err
	}
	if o.remote.givesByName(o.can) {
		return commit{}, fmt.Errorf("%w in %s", ErrNotFound, o.from)
	}
	if err := o.dig(ctx, branch, hash); err != nil {
		return commit{}, err
	}
	return o.commit(hash)
}

// past is what is here of the history behind a tip.
type past struct {
	tip     plumbing.Hash
	depth   int
	borders []plumbing.Hash // commits whose parents are not here
}

// dig looks for a commit behind the branch's tip, with the content of each one
// on the way.
func (o *objects) dig(ctx context.Context, branch plumbing.ReferenceName, hash plumbing.Hash) error {
	tip, err := o.ask(ctx, branch)
	if err != nil {
		return err
	}
	if err := o.bringWhole(ctx, tip); err != nil {
		return err
	}
	if o.past.tip != tip {
		o.past = past{tip: tip, depth: 1, borders: []plumbing.Hash{tip}}
	}
	for !o.has(hash) {
		err := o.deepen(ctx)
		if errors.Is(err, errNoRoom) || err == nil && o.past.depth >= historyLimit && !o.has(hash) {
			return fmt.Errorf("%w among the newest commits of branch %s: its server gives out no commit by name (uploadpack.allowReachableSHA1InWant), and at most %d commits and %d MiB are looked through", ErrNotFound, branch.Short(), historyLimit, storeLimit>>20)
		}
		if err != nil {
			return err
		}
		if len(o.past.borders) == 0 && !o.has(hash) {
			return fmt.Errorf("%w in the history of branch %s", ErrNotFound, branch.Short())
		}
	}
	o.whole[hash] = true
	return nil
}

// deepen fetches more of the history behind the tip: four times as much.
func (o *objects) deepen(ctx context.Context) error {
	p := &o.past
	depth := min(max(historyStep, p.depth*4), historyLimit)
	tip := []plumbing.Hash{p.tip}
	moved, err := o.receive(ctx, request{wants: tip, haves: tip, shallows: p.borders, depth: depth, filter: o.readable()})
	if err != nil {
		return err
	}
	p.depth = depth
	p.borders = slices.DeleteFunc(append(p.borders, moved.Shallows...), func(b plumbing.Hash) bool {
		return slices.Contains(moved.Unshallows, b)
	})
	return nil
}
