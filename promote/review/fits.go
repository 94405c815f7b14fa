package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/oneline"
)

// longestName bounds what is quoted of an author's name, in bytes.
const longestName = 60

// follow looks at another head than the run's own. One that is the same change, as where
// somebody has brought the branch up to date, is replaced by the run's own: only that is merged.
// Where the branch shows the change already, that decides.
func (w *waiting) follow(ctx context.Context) error {
	change := w.change
	change.Made = w.own
	made, err := w.Repo.Propose(ctx, w.pull.Branch, change)
	switch {
	case errors.Is(err, gitops.ErrUnchanged):
		return nil
	case err != nil && !errors.Is(err, gitops.ErrTaken):
		return err
	case err == nil:
		if made.Hash != w.own { // else the forge is behind
			w.say(fmt.Sprintf("somebody has pushed the same change to its branch: the run's own takes its place, as %.10s", made.Hash))
			w.own = made.Hash
		}
		return errWaiting
	case onlyUpdated(ctx, w.Repo, w.pull, w.own):
		w.say(fmt.Sprintf("somebody has brought it up to date with %s: it is proposed on that", w.Branch))
		return ErrOutdated
	}
	reason := fmt.Sprintf("somebody has pushed to its branch %s, which is not what was proposed any more: %s", w.pull.Branch, by(ctx, w.Repo, w.pull.Head))
	if w.Stays { // what rolls back does not end for that
		w.say(reason)
		return ErrOutdated
	}
	return &NotMergedError{Pull: w.pull, Reason: reason}
}

// fits tells whether merging the pull request makes of the tip what the change would. It was
// made for an older one, and Git merges it wherever no line is in conflict.
func (w *waiting) fits(ctx context.Context, tip gitops.Snapshot) (bool, error) {
	key := tip.Commit.Hash + " " + w.pull.Head
	if key == w.fitted {
		return true, nil
	}
	head, err := w.Repo.At(ctx, w.pull.Head)
	if err != nil {
		return true, nil // the forge is ahead of what reads Git
	}
	if len(head.Commit.Parents) != 1 {
		return false, nil
	}
	if head.Commit.Parents[0] != tip.Commit.Hash {
		base, err := w.Repo.At(ctx, head.Commit.Parents[0]) // which is of the branch: Propose has looked
		if err != nil {
			return false, err
		}
		if same, err := sameChange(w.change, tip, base, head); err != nil || !same {
			return false, err
		}
	}
	w.fitted = key
	return true, nil
}

// mode is a file's; zero where it is absent.
func mode(at gitops.Snapshot, name string) fs.FileMode {
	info, err := fs.Lstat(at.Tree, name)
	if err != nil {
		return 0
	}
	return info.Mode()
}

// by names the commit at a pull request's head, and who its author says to be.
func by(ctx context.Context, repo Repo, head string) string {
	at, err := repo.At(ctx, head)
	if err != nil {
		return fmt.Sprintf("commit %.10s", head)
	}
	return fmt.Sprintf("commit %.10s by %q", head, oneline.Of(at.Commit.Author.Name, longestName))
}

// onlyUpdated tells whether somebody has merged the branch into a pull request since its head
// was another commit, or has rebased it, as the forge's button does.
func onlyUpdated(ctx context.Context, repo Repo, pull PullRequest, head string) bool {
	now, err := repo.At(ctx, pull.Head)
	if err != nil {
		return false
	}
	was, err := repo.At(ctx, head)
	rebased := err == nil && len(now.Commit.Parents) == 1 && now.Commit.Parents[0] != head && now.Commit.Subject == was.Commit.Subject
	return rebased || len(now.Commit.Parents) == 2 && now.Commit.Parents[0] == head
}

// sameChange tells whether Git, merging a pull request's head into a tip, makes of it byte for
// byte what the change would. That is certain only of files that nobody has changed since the
// head's base: of others Git knows lines and not entries, and may put one into another's.
func sameChange(change gitops.Change, tip, base, head gitops.Snapshot) (bool, error) {
	wants, err := change.Edit(tip)
	if err != nil {
		return false, err
	}
	made, err := gitops.Changed(base, head)
	if err != nil {
		return false, err
	}
	for _, name := range made {
		if _, is := wants[name]; !is {
			return false, nil
		}
	}
	for name, want := range wants {
		has, err := read(head, name)
		if err != nil || !bytes.Equal(has, want) {
			return false, err
		}
		if same, err := sameFile(base, tip, name); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameFile tells whether two snapshots have the same under a name, also nothing.
func sameFile(one, other gitops.Snapshot, name string) (bool, error) {
	a, err := read(one, name)
	if err != nil {
		return false, err
	}
	b, err := read(other, name)
	return mode(one, name) == mode(other, name) && bytes.Equal(a, b), err
}

// read is a file's content; none where it is absent.
func read(at gitops.Snapshot, name string) ([]byte, error) {
	content, err := fs.ReadFile(at.Tree, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}
