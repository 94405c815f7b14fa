package gitops

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/acme/knative-promote/gitops/remote"
)

// draft is a commit that is not in its branch yet.
type draft struct {
	remote.Update
	parent, tree plumbing.Hash
	objects      []plumbing.EncodedObject
}

// readBackTimeout bounds the look at the branch after the context has ended.
const readBackTimeout = 3 * time.Second

// pushUntilSeen pushes a draft until the branch shows it, or has gone elsewhere:
// then it returns remote.ErrRaced. Whatever a push says, the branch decides: an answer
// may be lost, go-git takes an empty answer for success, and a lost race has no
// error of its own. The draft may be beneath the branch's tip if maybe is true:
// it was sent, and the server did not say no.
func (r *Repo) pushUntilSeen(ctx context.Context, d draft) (maybe bool, err error) {
	for t := r.remote.Tries(); ; {
		sent, pushed := r.remote.Push(ctx, d.Update)
		maybe = maybe || sent && !remote.IsRefusal(pushed)
		seen := absent
		if sent || maybe {
			if seen, err = r.readBack(ctx, d); err != nil {
				return maybe, d.unknown(err)
			}
		}
		switch {
		case seen == shown:
			r.remote.TookPush()
			return maybe, nil
		case seen == passed && maybe && ctx.Err() != nil:
			return maybe, d.unknown(context.Cause(ctx))
		case r.remote.IsFinal(pushed):
			return maybe, remote.Refused(pushed)
		case seen == passed || errors.Is(pushed, remote.ErrRaced):
			return maybe, remote.ErrRaced
		case !t.Again(ctx, pushed):
			return maybe, notTaken(r.remote, remote.Refused(pushed))
		}
	}
}

// unknown is a draft of which the caller must know that the branch may have it.
func (d draft) unknown(err error) error {
	return fmt.Errorf("commit %s was sent, but whether the branch has it is not known: %w", d.Commit, err)
}

// notTaken is why a branch has not changed.
func notTaken(by *remote.Remote, pushed error) error {
	if pushed == nil {
		return fmt.Errorf("pushing to %s: the server answered, but the branch has not changed", by)
	}
	return pushed
}

// draftState is what the branch shows of a draft.
type draftState int

const (
	absent draftState = iota // the branch is where it was
	shown                    // the draft is the branch's tip
	passed                   // the branch went elsewhere: the draft can no longer be published
)

// lookingBack is a context to look at the branch with, also when the run's has
// ended, as the caller must know what it leaves behind.
func lookingBack(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() == nil {
		return ctx, func() {}
	}
	return context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
}

// readBack looks where the branch is.
func (r *Repo) readBack(ctx context.Context, d draft) (draftState, error) {
	ctx, cancel := lookingBack(ctx)
	defer cancel()
	tip, err := r.store.Where(ctx, d.Branch)
	switch {
	case err != nil:
		return absent, err
	case tip.IsZero() && !d.Old.IsZero():
		return absent, r.remote.NoBranch(d.Branch, nil, true)
	case tip == d.Old:
		return absent, nil
	case tip == d.Commit:
		return shown, nil
	}
	return passed, nil
}

// commitUntilSeen has the forge make the commit of a draft until the branch shows
// it, or has gone elsewhere: then it returns remote.ErrRaced. As with a push the branch
// decides, and not the answer, which may be lost; the commit is known by its parent
// and its tree. It may be beneath the branch's tip if maybe is true.
func (r *Repo) commitUntilSeen(ctx context.Context, d draft, c APICommit) (made Commit, maybe bool, err error) {
	c.Branch, c.Head = d.Branch.Short(), d.Old.String()
	for t := r.remote.Tries(); ; {
		said := r.API(ctx, c)
		final := errors.Is(said, remote.ErrRefused) || errors.Is(said, remote.ErrAuth)
		maybe = maybe || !final && !errors.Is(said, ErrStale)
		seen, made, err := r.readBackMade(ctx, d)
		switch {
		case err != nil:
			return Commit{}, maybe, fmt.Errorf("a commit on %.12s was asked for, but whether the branch has it is not known: %w", d.Old, err)
		case seen == shown:
			return made, maybe, nil
		case final:
			return Commit{}, maybe, said
		case seen == passed || errors.Is(said, ErrStale):
			return Commit{}, maybe, remote.ErrRaced
		case !t.Again(ctx, said):
			return Commit{}, maybe, notTaken(r.remote, said)
		}
	}
}

// readBackMade looks where the branch is, and at what the forge has made.
func (r *Repo) readBackMade(ctx context.Context, d draft) (draftState, Commit, error) {
	ctx, cancel := lookingBack(ctx)
	defer cancel()
	tip, err := r.tipOf(ctx, d.Branch)
	switch {
	case err != nil:
		return absent, Commit{}, err
	case tip.hash == d.Old:
		return absent, Commit{}, nil
	case tip.tree == d.tree && len(tip.Parents) == 1 && tip.Parents[0] == d.Old.String():
		return shown, tip.Commit, nil
	}
	return passed, Commit{}, nil
}

// beginBranch makes a branch at the draft's parent, which the forge can commit to.
func (r *Repo) beginBranch(ctx context.Context, d draft) error {
	begun := draft{Update: remote.Update{Branch: d.Branch, Commit: d.parent}, parent: d.parent}
	var err error
	if begun.Pack, err = encodePack(nil); err != nil {
		return err
	}
	_, err = r.pushUntilSeen(ctx, begun)
	return err
}

// encodePack is what a push sends of objects.
func encodePack(objects []plumbing.EncodedObject) ([]byte, error) {
	store := memory.NewStorage()
	var names []plumbing.Hash
	for _, o := range objects {
		name, err := store.SetEncodedObject(o)
		if err != nil {
			return nil, fmt.Errorf("writing the pack: %w", err)
		}
		names = append(names, name)
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, store, false).Encode(names, 0); err != nil {
		return nil, fmt.Errorf("writing the pack: %w", err)
	}
	return pack.Bytes(), nil
}
