package gitops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/gitops/store"
	"github.com/acme/knative-promote/internal/oneline"
)

// proposeAttempts bounds how often a proposal is looked at anew that somebody
// else pushes at the same time.
const proposeAttempts = 4

// Propose pushes the change, as one commit on top of the branch's tip, to a
// branch for a pull request, and returns that commit. The name begins with
// ProposalPrefix. Where the branch is there, the commit takes the place of its newest one, if
// that is the same change, made on one of the branch's own commits, so that a pull request for
// it stays; nothing else is pushed over, which is ErrTaken. So it is where the forge makes the
// commit, which can only add one, or takes no such push. ErrUnchanged comes with the tip,
// which shows the change already.
func (r *Repo) Propose(ctx context.Context, name string, change Change) (Commit, error) {
	if !strings.HasPrefix(name, ProposalPrefix) {
		return Commit{}, fmt.Errorf("branch %q: expected a name that begins with %s", oneline.Brief(name), ProposalPrefix)
	}
	branch, err := branchName(name)
	if err != nil {
		return Commit{}, err
	}
	m, err := r.message(change)
	if err != nil {
		return Commit{}, err
	}
	for raced := 1; ; raced++ {
		made, err := r.proposeOnce(ctx, branch, change, m)
		if !errors.Is(err, remote.ErrRaced) || raced == proposeAttempts {
			return made, err
		}
	}
}

// proposeOnce returns remote.ErrRaced where somebody else has made the branch
// meanwhile.
func (r *Repo) proposeOnce(ctx context.Context, branch plumbing.ReferenceName, change Change, m message) (Commit, error) {
	tip, err := r.tipOf(ctx, r.branch)
	if err != nil {
		return Commit{}, err
	}
	files, err := change.Edit(r.snapshot(ctx, tip))
	if err != nil {
		return tip.Commit, fmt.Errorf("editing commit %.12s: %w", tip.Hash, err)
	}
	d, err := r.draft(ctx, tip, files, m)
	if err != nil {
		return tip.Commit, err
	}
	there, err := r.store.Where(ctx, branch)
	if err != nil {
		return Commit{}, err
	}
	d.Branch, d.Old = branch, there
	if !there.IsZero() {
		return replaced(ctx, r, tip, change, d)
	}
	if r.API != nil {
		if err := r.beginBranch(ctx, d); err != nil {
			return Commit{}, err
		}
		d.Old = d.parent
	}
	made, _, err := r.publishDraft(ctx, d, r.snapshot(ctx, tip), files, m)
	return made, err
}

// replaced pushes a draft over the commit of a proposal's branch that is the same change.
func replaced(ctx context.Context, r *Repo, tip commit, change Change, d draft) (Commit, error) {
	if change.Made == d.Old.String() || d.Commit == d.Old {
		made, err := r.tipOf(ctx, d.Branch)
		return made.Commit, err
	}
	taken := fmt.Errorf("branch %s of %s: %w, at commit %.12s", d.Branch.Short(), r.remote, ErrTaken, d.Old)
	if r.API != nil {
		return Commit{}, taken
	}
	head, err := r.tipOf(ctx, d.Branch)
	same := err == nil && head.hash == d.Old
	if same {
		same, err = repeats(ctx, r, tip, head, change)
	}
	if err == nil && same {
		_, err = r.pushUntilSeen(ctx, d)
	}
	switch {
	case err == nil && same:
		return r.published(d)
	case ctx.Err() != nil, errors.Is(err, remote.ErrRaced):
		return Commit{}, err
	}
	return Commit{}, taken // also by what cannot be read
}

// repeats tells whether a head is the change on the commit that it was made on, which the
// branch must have, byte for byte and mode for mode. A merge is not: it may be of an older
// commit, and undo what came after that.
func repeats(ctx context.Context, r *Repo, tip, head commit, change Change) (bool, error) {
	if len(head.Parents) != 1 || change.Repeats == nil {
		return false, nil
	}
	if on, err := isBehind(ctx, r, tip, head.Parents[0]); err != nil || !on {
		return false, err
	}
	parent := plumbing.NewHash(head.Parents[0])
	if err := r.store.At(ctx, r.branch, parent); err != nil {
		return false, err
	}
	base, err := r.commit(parent)
	if err != nil {
		return false, err
	}
	files, err := change.Repeats(r.snapshot(ctx, tip), r.snapshot(ctx, base), r.snapshot(ctx, head))
	if err != nil || len(files) == 0 {
		return false, err
	}
	e := &edit{ctx: ctx, store: r.store, commit: base.hash}
	tree, err := e.root(base.tree, files)
	return tree == head.tree, err
}

// OnBranch tells whether a commit is the branch's tip, or has been: one behind it by first parents
// alone, as far as a server gives them out without what is in them. What a merged pull request
// brought besides was never looked at by those who merge.
func OnBranch(ctx context.Context, r *Repo, commit string) (bool, error) {
	tip, err := r.tipOf(ctx, r.branch)
	if err != nil {
		return false, err
	}
	return isBehind(ctx, r, tip, commit)
}

func isBehind(ctx context.Context, r *Repo, tip commit, name string) (found bool, err error) {
	if name == tip.Hash {
		return true, nil
	}
	err = r.store.Behind(ctx, tip.hash, behindLimit, func(past store.Past) { found = found || past.Tip.String() == name })
	return found, err
}

// ErrSeveral is that a branch and a commit have no one commit in common that a merge goes by, or so many that nobody looks.
var ErrSeveral = store.ErrSeveral

// MergeBase is the commit that a merge of another one into the branch goes by: the newest that both
// have. What the branch has and the other one has taken out again is a change of the other's, whatever
// its parents are. Empty: nobody can tell, as there are several or the server gives out no commits
// without what is in them.
func MergeBase(ctx context.Context, r *Repo, at Snapshot) (string, error) {
	head := at.Commit
	tip, err := r.tipOf(ctx, r.branch)
	if err != nil || head.Hash == tip.Hash || slices.Contains(head.Parents, tip.Hash) {
		return tip.Hash, err
	}
	in := r.store
	if tree, is := at.Tree.(*treeFS); is {
		if there, is := tree.objects.(*store.Store); is {
			in = there
		}
	}
	var parents []plumbing.Hash
	for _, parent := range head.Parents {
		parents = append(parents, plumbing.NewHash(parent))
	}
	base, err := store.Common(ctx, r.store, tip.hash, in, plumbing.NewHash(head.Hash), parents, behindLimit)
	if err != nil {
		return "", fmt.Errorf("looking for what branch %s and commit %.12s have in common: %w", r.branch.Short(), head.Hash, err)
	}
	if base.IsZero() {
		return "", nil
	}
	return base.String(), nil
}
