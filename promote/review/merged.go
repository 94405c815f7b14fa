package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops"
)

// settle finds the commit that shows what was merged. What the forge names is
// taken where it shows that; the branch's newest commit must. What it was merged as may
// show something else than it is to be on what the branch had become by then.
func (w *waiting) settle(ctx context.Context) (gitops.Commit, error) {
	if w.pull.Base != "" && w.pull.Base != w.Branch {
		return gitops.Commit{}, &NotMergedError{Pull: w.pull, WithMore: true, Reason: fmt.Sprintf("was merged into %s, as %s, and not into %s: %s in the last moment; revert that commit there", w.pull.Base, w.pull.Merge, w.Branch, otherBase(w.pull.Base))}
	}
	shown := false
	at, unread := w.Repo.At(ctx, w.pull.Merge)
	if unread == nil {
		var refused error
		shown, refused = shows(at, w.change)
		if err := mergedAsMade(ctx, w, at, shown); err != nil {
			return gitops.Commit{}, err
		}
		if refused == nil && !shown {
			w.say(fmt.Sprintf("merged as %s, into which others had merged meanwhile: it is proposed on that", w.pull.Merge))
			return gitops.Commit{}, ErrOutdated
		}
	}
	tip, err := showing(ctx, w)
	if err != nil {
		return gitops.Commit{}, err
	}
	w.say("merged as " + w.pull.Merge)
	if err := w.Forge.DeleteBranch(ctx, w.pull.Branch); err != nil {
		w.say(fmt.Sprintf("its branch stays: %v", err))
	}
	if shown {
		return at.Commit, nil
	}
	return tip, nil
}

// showing is the branch's newest commit, which must show what was merged.
func showing(ctx context.Context, w *waiting) (gitops.Commit, error) {
	switch tip, there, err := tipShows(ctx, w); {
	case err != nil:
		return gitops.Commit{}, err
	case !there && w.merged < lagging: // what reads Git may be behind
		w.merged++
		return gitops.Commit{}, errWaiting
	case !there:
		return gitops.Commit{}, &NotMergedError{Pull: w.pull, Reason: fmt.Sprintf("the forge says that it was, as %.10s, but branch %s does not show it, at %.10s", w.pull.Merge, w.Branch, tip.Commit.Hash)}
	default:
		return tip.Commit, nil
	}
}

// tipShows is the branch's newest commit, and whether it shows the change.
func tipShows(ctx context.Context, w *waiting) (tip gitops.Snapshot, there bool, err error) {
	if tip, err = w.Repo.Tip(ctx); err != nil {
		return tip, false, err
	}
	there, err = shows(tip, w.change)
	return tip, there, err
}

// mergedAsMade is the error of a commit that a pull request was merged as, and that makes
// something else of the branch than the run has written. What rolls back does not end for that.
func mergedAsMade(ctx context.Context, w *waiting, at gitops.Snapshot, shown bool) error {
	more := withMore(ctx, w, at, shown)
	if len(more) == 0 {
		return nil
	}
	reason := "was merged with what somebody has pushed to its branch, " + by(ctx, w.Repo, w.pull.Head)
	if w.pull.Head == w.own {
		reason = fmt.Sprintf("was merged as %.10s, which makes something else of files than was proposed, for example because others changed them at that moment", w.pull.Merge)
	}
	reason += ": " + strings.Join(more, ", ")
	if !w.Stays {
		return &NotMergedError{Pull: w.pull, Reason: reason, WithMore: true}
	}
	w.say(reason)
	return nil
}

func isWithMore(err error) bool {
	not, is := errors.AsType[*NotMergedError](err)
	return is && not.WithMore
}

// withMore are the files that a commit changes from its first parent otherwise than the change
// and the head that the run has written do, as far as that can be read. Where the commit does not
// show the change, and the one before was already another's, that one's author has come first.
func withMore(ctx context.Context, w *waiting, at gitops.Snapshot, shown bool) []string {
	if len(at.Commit.Parents) == 0 {
		return nil
	}
	before, err := w.Repo.At(ctx, at.Commit.Parents[0])
	if err != nil {
		return nil
	}
	changed, err := gitops.Changed(before, at)
	if err != nil {
		return nil
	}
	ours, unread := writtenAt(ctx, w.Repo, w.own)
	edited, refused := w.change.Edit(before) // as in a freeze, where what was written tells alone
	if refused != nil && (unread != nil || !shown && w.Over != nil && w.Over(refused)) {
		return nil
	}
	return slices.DeleteFunc(changed, func(name string) bool {
		wants, is := edited[name]
		if unread != nil { // the names of files tell
			return is
		}
		has, err := read(at, name)
		return err == nil && mode(at, name) == mode(ours.head, name) && (is && bytes.Equal(has, wants) || ours.has(name, has, before))
	})
}

// A written is the head that the run has written, and what that was written on.
type written struct{ base, head gitops.Snapshot }

func writtenAt(ctx context.Context, repo Repo, own string) (w written, err error) {
	if w.head, err = repo.At(ctx, own); err == nil && len(w.head.Commit.Parents) > 0 {
		w.base, err = repo.At(ctx, w.head.Commit.Parents[0])
	}
	return w, err
}

// has tells whether the head has written a file like this, over the same as was there before.
// What Git makes of a file that others have changed meanwhile was never written by the run.
func (w written) has(name string, content []byte, before gitops.Snapshot) bool {
	ours, err := read(w.head, name)
	if err != nil || !bytes.Equal(content, ours) {
		return false
	}
	same, err := sameFile(w.base, before, name)
	return err == nil && same
}
