package proposed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/pipeline"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
)

// baseOf is the commit to compare with: the one that the forge has merged with, where its own merge
// is checked out, which is newer than the base that the event names. Of any other commit its author
// says what the parents are, and the event may name a base that is old by now: a merge into the branch
// goes by what the two have in common, which somebody has to be able to tell.
// A pull request to another branch may be one to the branch a moment later, with what a forge has noted
// of its commit.
func baseOf(ctx context.Context, t task.Task, repo *task.Branch, merged, tip gitops.Snapshot) (gitops.Snapshot, error) {
	w, branch, head := t.Workflow, t.Settings.Remote.Branch, merged.Commit
	if w.BaseRef != "" && w.BaseRef != branch {
		return gitops.Snapshot{}, setting.Bad("branch: %q: pull request %d is to be merged into %q; expected the branch that Argo CD syncs, or a workflow for pull requests to that alone", branch, w.PullRequest, w.BaseRef)
	}
	if w.Head != "" && head.Hash == w.SHA && isMerge(head, w) {
		return repo.At(ctx, head.Parents[0])
	}
	common, err := gitops.MergeBase(ctx, repo.Repo, merged)
	if errors.Is(err, gitops.ErrSeveral) {
		return gitops.Snapshot{}, setting.Bad("branch: %q: there is not one commit alone, among those that are looked at, at which the checked-out commit %.10s has left it, so that nobody sees what their merge makes: "+
			"expected what is up to date there; merge the branch into it, or rebase it", branch, head.Hash)
	}
	if err == nil && common == "" {
		err = setting.Bad("branch: %q: nobody can tell at which commit the checked-out one, %.10s, has left it, as the Git server gives out no commits without what is in them: "+
			"expected one that is made on its newest commit %.10s; rebase it", branch, head.Hash, tip.Commit.Hash)
	}
	if err != nil || common == tip.Commit.Hash {
		return tip, err
	}
	base, err := repo.At(ctx, common)
	if err != nil {
		return base, err
	}
	both, err := changedByBoth(proposalOf(t.Settings.Promote), base, merged, tip)
	if err != nil || len(both) == 0 {
		return base, err
	}
	what := fmt.Sprintf("it has changed %s since the checked-out commit %.10s left it, which changes that too", shortened(both), head.Hash)
	if len(both) == 1 && both[0] == pipeline.Name {
		what = fmt.Sprintf("it, or the checked-out commit %.10s, has changed %s since the two parted, and the other one has changed files, which that may name", head.Hash, pipeline.Name)
	}
	return base, setting.Bad("branch: %q: %s, so that nobody sees what their merge makes: expected what is up to date there; merge the branch into it, or rebase it", branch, what)
}

// changedByBoth are the overlays, or the pipeline file beside anything, and else the files, that a branch has changed as well as a commit which has left it: what reads
// their files in either, as the pipeline file names some. Git merges what is moved on one side and changed on the other where it has
// been moved to. On what runs have changed on the branch no more depends than its text.
func changedByBoth(c proposal.Settings, base, head, tip gitops.Snapshot) ([]string, error) {
	mine, err := gitops.Changed(base, head)
	if err != nil {
		return nil, err
	}
	all, err := gitops.Changed(base, tip)
	if err != nil {
		return nil, err
	}
	theirs := notOfRuns(base, tip, all)
	deployed, err := proposal.Deployed(c.Guards.Keys, tip, head)
	if err != nil {
		return nil, err
	}
	var overlays [2][]string
	for i, changed := range [][]string{mine, theirs} {
		if overlays[i], _, err = kustomize.Touched(head.Tree, tip.Tree, changed, deployed); err != nil {
			return nil, err
		}
	}
	if both := inBoth(overlays[0], overlays[1]); len(both) > 0 {
		return both, nil
	}
	if len(mine) > 0 && len(theirs) > 0 && (slices.Contains(mine, pipeline.Name) || slices.Contains(theirs, pipeline.Name)) {
		return []string{pipeline.Name}, nil
	}
	both := inBoth(mine, all)
	moved := func(changed []string, other gitops.Snapshot) []string {
		return slices.DeleteFunc(slices.Clone(changed), func(file string) bool { return !isIn(base, path.Dir(file)) || isIn(other, path.Dir(file)) })
	}
	both = slices.Concat(both, moved(mine, tip), moved(all, head))
	slices.Sort(both)
	return slices.Compact(both), nil
}

// notOfRuns are the files among those that a branch has changed that no run has: the record of an overlay with what is beside it, and
// in its kustomization the entries of those, and the tags of the images that the record is of.
func notOfRuns(from, to gitops.Snapshot, changed []string) []string {
	ran, begun := map[string][]string{}, map[string]bool{} // images, and whether there was a promotion before, by the folder
	for _, file := range changed {
		if service := knative.OwnedBy(file); service != "" {
			ran[path.Dir(file)] = append(ran[path.Dir(file)], imagesRun(to, path.Dir(file), service)...)
			begun[path.Dir(file)] = begun[path.Dir(file)] || isIn(from, file)
		}
	}
	return slices.DeleteFunc(slices.Clone(changed), func(file string) bool {
		is, err := fs.ReadFile(to.Tree, file)
		images := ran[path.Dir(file)]
		switch {
		case err != nil || len(images) == 0:
			return false
		case kustomize.IsFile(file):
			was, err := fs.ReadFile(from.Tree, file)
			return err == nil && kustomize.SameButTags(was, is, images, knative.Own)
		case knative.OwnedBy(file) == "" && begun[path.Dir(file)]: // defaults, which may hide anything of the template
			return false
		}
		return knative.IsWritten(file, is)
	})
}

// imagesRun are the images that the record of an overlay says it has; none: there is none that can be read.
func imagesRun(at gitops.Snapshot, overlay, service string) []string {
	text, err := knative.ReadRecord(at.Tree, overlay, service)
	if err != nil {
		return nil
	}
	r, err := record.Parse(text)
	switch {
	case err != nil || r.Overlay != overlay: // a copy of another one's
		return nil
	case r.Step == record.Restore:
		return r.From.AllImages()
	}
	return r.To.AllImages()
}

func inBoth(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })
}

// isIn tells whether there is something of a name.
func isIn(at gitops.Snapshot, name string) bool {
	_, err := fs.Lstat(at.Tree, name)
	return err == nil
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
