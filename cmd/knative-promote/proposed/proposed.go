// Package proposed shows what a pull request or the checked-out commit changes, and prepares it:
// what it changes of a template becomes a candidate at 0 %.
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
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/promote/setting"
)

// proposed is what the checked-out commit changes. Policies that cannot be read
// are said beside everything else, and are the second value.
func proposed(ctx context.Context, t task.Task) (diff report.Diff, refused, err error) {
	base, head, err := compared(ctx, t)
	if err != nil {
		return diff, nil, err
	}
	changed, err := gitops.Changed(base, head)
	if err != nil {
		return diff, nil, err
	}
	proposal, err := proposal.Propose(proposalOf(t.Settings.Promote), base, head)
	if _, bad := errors.AsType[*setting.InputError](err); bad {
		refused, diff.Refused = err, err.Error()
	} else if err != nil {
		return diff, nil, err
	}
	windows, err := proposal.Windows()
	if err != nil {
		return diff, nil, err
	}
	file, err := proposal.Pipeline()
	if err != nil {
		return diff, nil, err
	}
	diff.Windows, diff.Pipeline = report.FileChange(windows), report.FileChange(file)
	diff.Own = slices.DeleteFunc(slices.Clone(changed), func(file string) bool { return !knative.Own(file) })
	diff.Beside = proposal.Beside(changed)
	diff.Overlays, err = comparison{base, head, proposal}.overlays(ctx, changed)
	return diff, refused, err
}

// compared are the two commits of the difference: the checked-out one, and
// where it is to be merged into.
func compared(ctx context.Context, t task.Task) (base, head gitops.Snapshot, err error) {
	if head, err = checkedOut(ctx, t, "diff without image compares"); err != nil {
		return base, head, err
	}
	repo, err := t.Open()
	if err != nil {
		return base, head, err
	}
	base, err = baseOf(ctx, repo, head, t.Workflow)
	return base, head, err
}

// checkedOut is the commit that is checked out. An error says what does what with it.
func checkedOut(ctx context.Context, t task.Task, what string) (gitops.Snapshot, error) {
	head, err := gitops.Checkout(ctx, t.Workflow.Workspace)
	if err != nil {
		err = fmt.Errorf("%s the checked-out commit (in a workflow, add actions/checkout before): %w", what, err)
	}
	return head, err
}

// baseOf is the commit to compare with: the first parent of a pull request's
// merge commit, which is newer than the base that the event names. An event that does not
// name the head, as a comment, cannot tell whose merge it is: the branch tells.
func baseOf(ctx context.Context, repo *task.Branch, head gitops.Snapshot, w console.Workflow) (gitops.Snapshot, error) {
	merged := isMerge(head.Commit, w)
	if merged && w.Head == "" {
		var err error
		if merged, err = gitops.OnBranch(ctx, repo.Repo, head.Commit.Parents[0]); err != nil {
			return gitops.Snapshot{}, err
		}
	}
	switch {
	case merged:
		return repo.At(ctx, head.Commit.Parents[0])
	case w.Base != "":
		return repo.At(ctx, w.Base)
	}
	return repo.Tip(ctx)
}

// isMerge tells whether a commit is the forge's merge of the event's pull request. One that the
// author has made may have all that it changes on its first parent.
func isMerge(c gitops.Commit, w console.Workflow) bool {
	return len(c.Parents) == 2 && (w.Head == "" || c.Parents[1] == w.Head)
}

// A comparison renders overlays at two commits.
type comparison struct {
	base, head gitops.Snapshot
	proposal   proposal.Proposal
}

// overlays are those that render to something else. Where the policies change, they are all
// that these deny.
func (c comparison) overlays(ctx context.Context, changed []string) ([]report.Overlay, error) {
	touched, parts, err := kustomize.Touched(c.base.Tree, c.head.Tree, changed)
	all, stricter := touched, c.proposal.ChangesPolicies(changed)
	if err == nil && stricter {
		all, err = kustomize.Overlays(c.head.Tree)
	}
	if err != nil {
		return nil, err
	}
	var shown []report.Overlay
	for _, overlay := range all {
		o := c.compare(ctx, overlay)
		changed := slices.Contains(touched, overlay)
		if !changed {
			o.Err = ""
		}
		if o.Findings, err = c.findings(ctx, o, changed, stricter); err != nil {
			return nil, err
		}
		if changed && o.Changes() || len(o.Findings) > 0 {
			shown = append(shown, o)
		}
	}
	return append(shown, c.hidden(ctx, parts, shown)...), ctx.Err()
}

// hidden are the parts with changes that none of their users shows. Such a part may be deployed
// by itself as well, and may not: it has no findings.
func (c comparison) hidden(ctx context.Context, parts []kustomize.Part, shown []report.Overlay) (more []report.Overlay) {
	for _, part := range parts {
		var users []manifest.Difference
		for _, o := range shown {
			if slices.Contains(part.Users, o.Path) {
				users = append(users, o.Difference)
			}
		}
		o := c.compare(ctx, part.Path)
		if part.Component {
			o.Err = ""
		}
		if o.Changes() && (o.Err != "" || !o.Difference.Within(users)) {
			more = append(more, o)
		}
	}
	return more
}

// findings are what is wrong with an overlay at the head: all in the manifests of one that
// comes to be another, and what changed files break of it. Of one that stays as it is, what
// the policies deny that have changed.
func (c comparison) findings(ctx context.Context, o report.Overlay, changed, stricter bool) (all []event.Finding, err error) {
	if o.After == nil {
		return nil, nil
	}
	if changed && len(o.Difference) > 0 || stricter {
		if all, err = c.proposal.Manifests(ctx, o.Path, o.Before, o.After); err != nil {
			return nil, err
		}
	}
	if !changed {
		return slices.DeleteFunc(all, func(f event.Finding) bool { return f.Rule != check.PolicyDenied }), nil
	}
	brought, err := c.proposal.Brought(ctx, o.Path, o.Before, o.After)
	return append(all, brought...), err
}

// compare renders one overlay of both commits.
func (c comparison) compare(ctx context.Context, overlay string) report.Overlay {
	o := report.Overlay{Path: overlay}
	if file, err := kustomize.File(c.head.Tree, overlay); err == nil {
		o.File = path.Join(overlay, file)
	}
	before, _, err := knative.Render(ctx, c.base.Tree, overlay)
	if err != nil { // new, or broken before: everything in it is new
		before = nil
	}
	if before != nil && isGone(c.head.Tree, overlay) {
		o.Before, o.Difference = before, manifest.Compare(before, nil)
		return o
	}
	after, misfits, err := knative.Render(ctx, c.head.Tree, overlay)
	switch {
	case err != nil:
		o.Err = err.Error()
		return o
	case len(misfits) > 0:
		o.Err = knative.DescribeMisfits(misfits)
	}
	o.Before, o.After, o.Difference = before, after, manifest.Compare(before, after)
	if names, err := knative.Services(after); err == nil {
		o.Service = strings.Join(names, ", ")
	}
	if o.Warnings, err = knative.Pinned(before, after); err != nil {
		o.Err, o.After = err.Error(), nil
	}
	return o
}

// isGone tells whether a tree has no kustomization in a folder any more, nor a link in its place.
func isGone(tree fs.FS, overlay string) bool {
	info, err := fs.Lstat(tree, overlay)
	if err != nil || info.Mode()&fs.ModeSymlink != 0 {
		return errors.Is(err, fs.ErrNotExist)
	}
	_, err = kustomize.File(tree, overlay)
	return errors.Is(err, fs.ErrNotExist)
}

// proposalOf are the settings by which a pull request is looked at and prepared.
func proposalOf(c promote.Config) proposal.Settings {
	return proposal.Settings{
		Settings: c.Settings, Source: c.Targets[0].Source, Guards: c.Guards, Policies: c.Policies, PodSecurity: c.PodSecurity,
		Strict: c.Strict, Probed: c.Gates.Probe.Path != "", Skip: c.Skip, Reason: c.Reason,
	}
}
