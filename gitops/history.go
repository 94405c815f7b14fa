package gitops

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
)

const (
	historyStep  = 32      // commits that the first deepening brings
	historyLimit = 1 << 15 // depth up to which a history is searched
)

var errTooDeep = fmt.Errorf("the history is deeper than %d commits", historyLimit)

// past is what is in memory of the history behind the branch's tip.
type past struct {
	tip     plumbing.Hash
	depth   int
	borders []plumbing.Hash // commits whose parents are not here
}

func newPast(tip plumbing.Hash) *past {
	return &past{tip: tip, depth: 1, borders: []plumbing.Hash{tip}}
}

// ancestor reads a commit of the branch's history, fetching it if need be.
func (o *objects) ancestor(ctx context.Context, hash plumbing.Hash) (commit, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for !o.has(hash) {
		if err := o.deepen(ctx); err != nil {
			return commit{}, fmt.Errorf("looking for commit %.12s: %w", hash, err)
		}
	}
	return o.readCommit(hash)
}

// deepen fetches more of the branch's history, without content where the
// server can leave it out: four times as deep as before.
func (o *objects) deepen(ctx context.Context) error {
	p := o.past
	switch {
	case !o.has(p.tip):
		return o.bring(ctx, p.tip)
	case p.depth >= historyLimit:
		return errTooDeep
	case len(p.borders) == 0:
		return fmt.Errorf("%w in the history of the branch", ErrNotFound)
	}
	depth := min(max(historyStep, p.depth*4), historyLimit)
	q := request{wants: []plumbing.Hash{p.tip}, haves: []plumbing.Hash{p.tip}, shallows: p.borders, depth: depth}
	if o.can.Supports(capability.Filter) {
		q.filter = packp.FilterTreeDepth(0)
	}
	moved, err := o.receive(ctx, q)
	if err != nil {
		return err
	}
	p.depth = depth
	p.borders = slices.DeleteFunc(append(p.borders, moved.Shallows...), func(b plumbing.Hash) bool {
		return slices.Contains(moved.Unshallows, b)
	})
	return nil
}

// walk visits the commits of a history, nearest first, each once.
type walk struct {
	objects *objects
	queue   []plumbing.Hash
	seen    map[plumbing.Hash]bool
}

// walk starts at tip and does not go on to the commits in not.
func (o *objects) walk(tip plumbing.Hash, not ...plumbing.Hash) *walk {
	w := &walk{objects: o, queue: []plumbing.Hash{tip}, seen: map[plumbing.Hash]bool{tip: true}}
	for _, hash := range not {
		w.seen[hash] = true
	}
	return w
}

// next returns the next commit; ok is false at the end.
func (w *walk) next(ctx context.Context) (c commit, ok bool, err error) {
	if len(w.queue) == 0 {
		return commit{}, false, nil
	}
	if c, err = w.objects.ancestor(ctx, w.queue[0]); err != nil {
		return commit{}, false, err
	}
	w.queue = w.queue[1:]
	for _, parent := range c.parents {
		if !w.seen[parent] {
			w.seen[parent] = true
			w.queue = append(w.queue, parent)
		}
	}
	return c, true, nil
}

// reaches tells whether a commit is on the way.
func (w *walk) reaches(ctx context.Context, hash plumbing.Hash) (bool, error) {
	for {
		if slices.Contains(w.queue, hash) {
			return true, nil
		}
		if _, ok, err := w.next(ctx); err != nil || !ok {
			return false, err
		}
	}
}

// Log gives the branch's commits from its tip along the first parents. The
// history is fetched in growing pieces as the caller goes on.
func (r *Repo) Log(ctx context.Context) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		hash, err := r.objects.tip(ctx, r.branch)
		if err != nil {
			yield(Commit{}, err)
			return
		}
		for {
			c, err := r.objects.ancestor(ctx, hash)
			if !yield(c.Commit, err) || err != nil || len(c.parents) == 0 {
				return
			}
			hash = c.parents[0]
		}
	}
}

// At reads a commit of the branch by its full name or an abbreviation of at
// least seven digits.
func (r *Repo) At(ctx context.Context, hash string) (Snapshot, error) {
	found, err := r.find(ctx, hash)
	if err != nil {
		return Snapshot{}, err
	}
	return r.snapshot(ctx, found)
}

// find looks for a commit in the branch's history. It takes no commit that is
// only in the repository: a host may hold those of foreign forks there.
func (r *Repo) find(ctx context.Context, name string) (plumbing.Hash, error) {
	name = strings.ToLower(name)
	if len(name) < 7 || len(name) > 40 || strings.Trim(name, "0123456789abcdef") != "" {
		return plumbing.ZeroHash, fmt.Errorf("commit %q: expected 7 to 40 hexadecimal digits", clean(name))
	}
	tip, err := r.objects.tip(ctx, r.branch)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	var found []string
	for w := r.objects.walk(tip); ; {
		c, ok, err := w.next(ctx)
		if err != nil && !(errors.Is(err, errTooDeep) && len(found) > 0) {
			return plumbing.ZeroHash, err
		}
		if !ok || len(found) > 1 {
			break
		}
		if strings.HasPrefix(c.Hash, name) {
			found = append(found, c.Hash)
		}
		if c.Hash == name {
			break
		}
	}
	switch len(found) {
	case 0:
		return plumbing.ZeroHash, fmt.Errorf("commit %s: %w in the history of branch %s", name, ErrNotFound, r.branch.Short())
	case 1:
		return plumbing.NewHash(found[0]), nil
	default:
		return plumbing.ZeroHash, fmt.Errorf("commit %s: the abbreviation is ambiguous, it can be %s: give more digits", name, strings.Join(found, " or "))
	}
}

// Contains tells whether commit, a full name, is tip or one of its ancestors.
// Both are searched from at once, so that the answer is near when either comes
// soon after the other.
func (r *Repo) Contains(ctx context.Context, tip, commit string) (bool, error) {
	if tip == commit {
		return true, nil
	}
	from, to := plumbing.NewHash(tip), plumbing.NewHash(commit)
	if !plumbing.IsHash(tip) || !plumbing.IsHash(commit) {
		return false, fmt.Errorf("commits %q and %q: expected full names of 40 hexadecimal digits", clean(tip), clean(commit))
	}
	if !r.objects.holds(from) {
		if _, err := r.find(ctx, tip); err != nil {
			return false, err
		}
	}
	down, up := r.objects.walk(from), r.objects.walk(to)
	upwards := r.objects.holds(to)
	for {
		if slices.Contains(down.queue, to) {
			return true, nil
		}
		if _, ok, err := down.next(ctx); err != nil || !ok {
			return false, err
		}
		if !upwards {
			continue
		}
		// A commit cannot be an ancestor of its own ancestor.
		if slices.Contains(up.queue, from) {
			return false, nil
		}
		_, upwards, _ = up.next(ctx)
	}
}
