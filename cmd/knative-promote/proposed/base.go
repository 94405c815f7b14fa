package proposed

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/setting"
)

// mergedInto is the checked-out commit as what a merge makes of it, and the commit to compare that with: the one that the forge has merged
// with, where its own merge is checked out, which is newer than the base that the event names. Of any other commit its author
// says what the parents are, and the event may name a base that is old by now: its merge into the branch as that is now goes by
// what the two have in common, which somebody has to be able to tell.
// A pull request to another branch may be one to the branch a moment later, with what a forge has noted
// of its commit.
func mergedInto(ctx context.Context, t task.Task, repo *task.Branch, checkedOut, tip gitops.Snapshot) (base, merged gitops.Snapshot, err error) {
	w, branch, head := t.Workflow, t.Settings.Remote.Branch, checkedOut.Commit
	if w.BaseRef != "" && w.BaseRef != branch {
		return base, merged, setting.Bad("branch: %q: pull request %d is to be merged into %q; expected the branch that Argo CD syncs, or a workflow for pull requests to that alone", branch, w.PullRequest, w.BaseRef)
	}
	if w.Head != "" && head.Hash == w.SHA && isMerge(head, w) {
		base, err = repo.At(ctx, head.Parents[0])
		return base, checkedOut, err
	}
	common, err := gitops.MergeBase(ctx, repo.Repo, checkedOut)
	if errors.Is(err, gitops.ErrSeveral) {
		return base, merged, setting.Bad("branch: %q: there is not one commit alone, among those that are looked at, at which the checked-out commit %.10s has left it, so that nobody sees what their merge makes: "+
			"expected what is up to date there; merge the branch into it, or rebase it", branch, head.Hash)
	}
	if err == nil && common == "" {
		err = setting.Bad("branch: %q: nobody can tell at which commit the checked-out one, %.10s, has left it, as the Git server gives out no commits without what is in them: "+
			"expected one that is made on its newest commit %.10s; rebase it", branch, head.Hash, tip.Commit.Hash)
	}
	if err != nil || common == tip.Commit.Hash {
		return tip, checkedOut, err
	}
	left, err := repo.At(ctx, common)
	if err != nil {
		return base, merged, err
	}
	merged, conflicts, err := gitops.Merge(left, tip, checkedOut)
	if err == nil && len(conflicts) > 0 {
		err = setting.Bad("branch: %q: it has changed %s since the checked-out commit %.10s left it, which changes that too, so that nobody sees what their merge makes: "+
			"expected what is up to date there; merge the branch into it, or rebase it", branch, shortened(conflicts), head.Hash)
	}
	return tip, merged, err
}

// shortened are the first of some names, and how many there are more.
func shortened(names []string) string {
	const most = 3
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// isMerge tells whether a commit is the forge's merge of the event's pull request. One that the
// author has made may have all that it changes on its first parent.
func isMerge(c gitops.Commit, w console.Workflow) bool {
	return len(c.Parents) == 2 && (w.Head == "" || c.Parents[1] == w.Head)
}
