package gitops

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// An APICommit is a commit that the forge makes, in the place of a push.
type APICommit struct {
	Branch        string            // its short name
	Head          string            // commit that it must be at
	Subject, Body string            // of the message
	Files         map[string][]byte // path to content; nil content deletes the file
}

var (
	// ErrStale: the forge did not make a commit, as the branch was no longer at its
	// head.
	ErrStale = errors.New("the branch is no longer there")
	// ErrPlainOnly: the forge can only make plain files.
	ErrPlainOnly = errors.New("the forge's API makes plain files alone")
)

// commitUntilSeen has the forge make the commit of a draft until the branch shows
// it, or has gone elsewhere: then it returns errRaced. As with a push the branch
// decides, and not the answer, which may be lost; the commit is known by its parent
// and its tree. It may be beneath the branch's tip if maybe is true.
func (r *Repo) commitUntilSeen(ctx context.Context, d draft, c APICommit) (made Commit, maybe bool, err error) {
	c.Branch, c.Head = d.branch.Short(), d.old.String()
	for t := r.remote.tries(); ; {
		said := r.API(ctx, c)
		final := errors.Is(said, ErrRefused) || errors.Is(said, ErrAuth)
		maybe = maybe || !final && !errors.Is(said, ErrStale)
		seen, made, err := r.readBackMade(ctx, d)
		switch {
		case err != nil:
			return Commit{}, maybe, fmt.Errorf("a commit on %.12s was asked for, but whether the branch has it is not known: %w", d.old, err)
		case seen == shown:
			return made, maybe, nil
		case final:
			return Commit{}, maybe, said
		case seen == passed || errors.Is(said, ErrStale):
			return Commit{}, maybe, errRaced
		case !t.again(ctx, said):
			return Commit{}, maybe, r.notTaken(said)
		}
	}
}

// readBackMade looks where the branch is, also when the context has ended.
func (r *Repo) readBackMade(ctx context.Context, d draft) (draftState, Commit, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), readBackTimeout)
		defer cancel()
	}
	tip, err := r.objects.tip(ctx, d.branch)
	switch {
	case err != nil:
		return absent, Commit{}, err
	case tip.hash == d.old:
		return absent, Commit{}, nil
	case tip.tree == d.tree && len(tip.Parents) == 1 && tip.Parents[0] == d.old.String():
		return shown, tip.Commit, nil
	}
	return passed, Commit{}, nil
}

// checkPlain refuses to replace what the forge would make a plain file of.
func checkPlain(tip Snapshot, files map[string][]byte) error {
	for name, content := range files {
		info, err := fs.Lstat(tip.Tree, name)
		if errors.Is(err, fs.ErrNotExist) || content == nil {
			continue
		}
		if err != nil {
			return err
		}
		if info.Mode().Type() != 0 || info.Mode().Perm()&0o111 != 0 {
			return fmt.Errorf("%s is a link or may be executed: %w: set commit to git, or make it a plain file", name, ErrPlainOnly)
		}
	}
	return nil
}

// beginBranch makes a branch at the draft's parent, which the forge can commit to.
func (r *Repo) beginBranch(ctx context.Context, d draft) error {
	begun := draft{update: update{branch: d.branch, commit: d.parent}, parent: d.parent}
	var err error
	if begun.pack, err = encodePack(nil); err != nil {
		return err
	}
	_, err = r.pushUntilSeen(ctx, begun)
	return err
}
