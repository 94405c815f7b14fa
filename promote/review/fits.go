package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

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
		return errOutdated
	}
	reason := fmt.Sprintf("somebody has pushed to its branch %s, which is not what was proposed any more: %s", w.pull.Branch, by(ctx, w.Repo, w.pull.Head))
	if w.Stays { // what rolls back does not end for that
		w.say(reason)
		return errOutdated
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

// withMore are the files that a commit changes from its first parent otherwise than the change
// and the head that the run has written do, as far as that can be read.
func withMore(ctx context.Context, repo Repo, change gitops.Change, at gitops.Snapshot, own string) []string {
	if len(at.Commit.Parents) == 0 {
		return nil
	}
	before, err := repo.At(ctx, at.Commit.Parents[0])
	if err != nil {
		return nil
	}
	changed, err := gitops.Changed(before, at)
	if err != nil {
		return nil
	}
	ours, unread := writtenAt(ctx, repo, own)
	edited, refused := change.Edit(before) // as in a freeze, where what was written tells alone
	if unread != nil && refused != nil {
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

// has tells whether the head has written a file like this, whose record says when that was. On a
// branch that has moved Git may have put the same lines elsewhere.
func (w written) has(name string, content []byte, before gitops.Snapshot) bool {
	was, err := read(before, name)
	base, errBase := read(w.base, name)
	ours, errOurs := read(w.head, name)
	if errors.Join(err, errBase, errOurs) != nil || bytes.Equal(base, ours) {
		return false
	}
	return bytes.Equal(content, ours) || w.base.Commit.Hash != before.Commit.Hash && maps.Equal(moved(base, ours), moved(was, content))
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

// sameChange tells whether the change takes and adds the same lines on a tip as a pull
// request's head does on its base.
func sameChange(change gitops.Change, tip, base, head gitops.Snapshot) (bool, error) {
	files, err := change.Edit(tip)
	if err != nil {
		return false, err
	}
	for name, content := range files {
		was, err := read(tip, name)
		if err != nil {
			return false, err
		}
		before, err := read(base, name)
		if err != nil {
			return false, err
		}
		after, err := read(head, name)
		if err != nil {
			return false, err
		}
		if !maps.Equal(uncommented(moved(was, content)), uncommented(moved(before, after))) {
			return false, nil
		}
	}
	return true, nil
}

// read is a file's content; none where it is absent.
func read(at gitops.Snapshot, name string) ([]byte, error) {
	content, err := fs.ReadFile(at.Tree, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// moved are the lines that one content has more often than another, and how much more.
func moved(before, after []byte) map[string]int {
	lines := map[string]int{}
	count := func(content []byte, by int) {
		for line := range strings.Lines(string(content)) {
			lines[line] += by
		}
	}
	count(after, 1)
	count(before, -1)
	maps.DeleteFunc(lines, func(_ string, n int) bool { return n == 0 })
	return lines
}

// uncommented are those that may change what is rendered: no comments, such as which run has
// made a commit.
func uncommented(lines map[string]int) map[string]int {
	maps.DeleteFunc(lines, func(line string, _ int) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") })
	return lines
}
