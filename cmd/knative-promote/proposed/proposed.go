// Package proposed shows what a pull request or the checked-out commit changes, and prepares it:
// what it changes of a template becomes a candidate at 0 %.
package proposed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/promote/setting"
)

// proposed is what the checked-out commit changes. Policies that cannot be read
// are said beside everything else, and are the second value.
func proposed(ctx context.Context, t task.Task) (diff report.Diff, refused, err error) {
	pull, err := compared(ctx, t)
	if err != nil {
		return diff, nil, err
	}
	diff.Commit = cmp.Or(t.Workflow.Head, pull.Merged.Commit.Hash)
	differences, err := gitops.Differences(pull.Base, pull.Merged)
	if err != nil {
		return diff, nil, err
	}
	changed := gitops.Paths(differences)
	proposal, err := proposal.Propose(ctx, proposalOf(t.Settings.Promote), pull)
	if _, bad := errors.AsType[*setting.InputError](err); bad {
		refused, diff.Refused = err, err.Error()
	} else if err != nil {
		return diff, nil, err
	}
	if diff.Checkout, err = proposal.Checkout(differences); err != nil {
		return diff, nil, err
	}
	windows, err := proposal.Windows()
	if err != nil {
		return diff, nil, err
	}
	diff.Windows = shownFiles(windows)
	diff.Pipeline, diff.Measured, diff.Judged = report.FileChange(proposal.Pipeline()), proposal.Measured(), proposal.Judged()
	records, own, err := proposal.Records(ctx, changed)
	if err != nil {
		return diff, nil, err
	}
	diff.Records, diff.Own = records, shownFiles(own)
	if diff.Beside, err = proposal.Beside(changed); err != nil {
		return diff, nil, err
	}
	c := comparison{base: pull.Base, head: pull.Merged, proposal: proposal, whole: t.Settings.Manifests != "", most: mostKept}
	shown, err := c.look(ctx, changed)
	if err != nil {
		return diff, nil, err
	}
	diff.Overlays, diff.Alike, diff.Silent, diff.Unused = shown.overlays, shown.alike, shown.silent, shown.unused
	return diff, refused, nil
}

// shownFiles are changes of files as the pages show them.
func shownFiles(changes []proposal.FileChange) (all []report.FileChange) {
	for _, change := range changes {
		all = append(all, report.FileChange(change))
	}
	return all
}

// compared is what the checked-out commit is compared with: where it is to be merged into.
func compared(ctx context.Context, t task.Task) (proposal.Pull, error) {
	repo, err := t.Open()
	if err != nil {
		return proposal.Pull{}, err
	}
	pull, err := merged(ctx, t, repo, "diff without image compares")
	if err != nil {
		return pull, err
	}
	tip, err := repo.Tip(ctx)
	if err != nil {
		return pull, err
	}
	pull.Tip = tip.Commit.Hash
	pull.Base, pull.Merged, err = mergedInto(ctx, t, repo, pull.Merged, tip)
	return pull, err
}

// merged is the checked-out commit as what the merge of a pull request would be, without its base.
func merged(ctx context.Context, t task.Task, repo *task.Branch, what string) (proposal.Pull, error) {
	w := t.Workflow
	pull := proposal.Pull{
		Number: w.PullRequest, Runs: mayBeRuns(w, t.Settings.Remote.Branch), Branch: t.Settings.Remote.Branch,
		Before: before(repo), Commits: repo,
	}
	var err error
	pull.Merged, err = checkedOut(ctx, t, what)
	return pull, err
}

// mayBeRuns tells whether what is checked out may be what a run has written, as what is on the branch, or in a merge queue
// after it was looked at; else it comes from a branch that people have named.
func mayBeRuns(w console.Workflow, branch string) bool {
	return w.Ref == "refs/heads/"+branch || w.EventName == "merge_group" || !w.OfFork && strings.HasPrefix(w.HeadRef, gitops.ProposalPrefix)
}

// checkedOut is the commit that is checked out. An error says what does what with it.
func checkedOut(ctx context.Context, t task.Task, what string) (gitops.Snapshot, error) {
	head, err := gitops.Checkout(ctx, t.Workflow.Workspace)
	if err != nil {
		err = fmt.Errorf("%s the checked-out commit (in a workflow, add actions/checkout before): %w", what, err)
	}
	return head, err
}

// proposalOf are the settings by which a pull request is looked at and prepared.
func proposalOf(c promote.Config) proposal.Settings {
	return proposal.Settings{
		Settings: c.Settings, Source: c.Targets[0].Source, Guards: c.Guards, Policies: c.Policies, PodSecurity: c.PodSecurity,
		Strict: c.Strict, Probed: c.Gates.Probe.Path != "", Skip: c.Skip, Reason: c.Reason,
	}
}
