package proposed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/cmd/knative-promote/reporter"
	"github.com/acme/knative-promote/cmd/knative-promote/task"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/proposal"
	"github.com/acme/knative-promote/promote/report"
	"github.com/acme/knative-promote/promote/setting"
)

// Prepare makes what a pull request changes of the templates candidates at 0 %, in
// one commit on its own branch. Of a push it tells which candidates that brought.
func Prepare(ctx context.Context, t task.Task) (event.Result, error) {
	if t.Workflow.Before != "" {
		return waiting(ctx, t)
	}
	repo, err := t.Open()
	if err != nil {
		return t.Looked(ctx, err)
	}
	pull, err := pull(ctx, t, repo)
	if err != nil {
		return t.Looked(ctx, err)
	}
	p, err := prepared(ctx, t, pull)
	if err != nil {
		return t.Looked(ctx, err)
	}
	page := report.Prepared{Services: reported(p.Services), Branch: pull.Branch, CommitURL: repourl.Read(t.Settings.Remote.URL).CommitURL()}
	commit, err := publish(ctx, t, p, func() ([]report.File, error) { return suggestion(ctx, p, pull, repo) }, &page)
	logPrepared(t, page)
	if !errors.Is(err, plan.ErrSuperseded) { // the run for the newer commit shows what becomes of it
		showPrepared(ctx, t, page)
	}
	result, err := t.Looked(ctx, cmp.Or(err, p.Failed()))
	result.Candidates = p.Candidates()
	if commit != "" {
		result.Changed, result.Commit = true, commit
	}
	if commit != "" && err == nil {
		result.Status = event.Prepared
	}
	return result, err
}

// reported are the Services as the pages show them.
func reported(services []proposal.PreparedService) (all []report.PreparedService) {
	for _, s := range services {
		all = append(all, report.PreparedService{Target: promote.Named(s.Target), From: s.From, To: s.To, Withdrawn: s.Withdrawn, Skipped: s.Skipped, Err: s.Err})
	}
	return all
}

// pull is the pull request of the event, by the merge commit that is checked out.
func pull(ctx context.Context, t task.Task, repo *task.Branch) (proposal.Pull, error) {
	pull, err := merged(ctx, t, repo, "prepare looks at")
	if err != nil {
		return pull, err
	}
	commit := pull.Merged.Commit
	if !isMerge(commit, t.Workflow) {
		return pull, &setting.InputError{Err: fmt.Errorf("command: %q: the checked-out commit %.10s (%s) is no merge of pull request %d: "+
			"expected the one that GitHub makes, which actions/checkout takes on pull_request where no ref is given", inputs.Prepare, commit.Hash, commit.Subject, pull.Number)}
	}
	pull.Base, err = repo.At(ctx, commit.Parents[0])
	return pull, err
}

// before are the commits of a branch.
func before(branch *task.Branch) func(context.Context, string) (gitops.Snapshot, error) {
	return func(ctx context.Context, commit string) (gitops.Snapshot, error) {
		if on, err := gitops.OnBranch(ctx, branch.Repo, commit); err != nil || !on {
			return gitops.Snapshot{}, err
		}
		return branch.At(ctx, commit)
	}
}

// prepared is what the pull request changes of the overlays that may render otherwise.
func prepared(ctx context.Context, t task.Task, pull proposal.Pull) (proposal.Preparation, error) {
	changed, err := gitops.Changed(pull.Base, pull.Merged)
	if err != nil {
		return proposal.Preparation{}, err
	}
	settings := proposalOf(t.Settings.Promote)
	deployed, err := proposal.Deployed(settings.Guards.Keys, pull.Base, pull.Merged)
	if err != nil {
		return proposal.Preparation{}, err
	}
	overlays, _, err := kustomize.Touched(pull.Base.Tree, pull.Merged.Tree, changed, deployed)
	if err != nil {
		return proposal.Preparation{}, err
	}
	overlays = slices.DeleteFunc(overlays, func(overlay string) bool {
		_, err := kustomize.File(pull.Merged.Tree, overlay)
		return errors.Is(err, fs.ErrNotExist) // it is taken away
	})
	return proposal.Prepare(ctx, settings, pull, overlays)
}

// publish makes the commit, or the same as a suggestion where nobody may push: to a
// fork, or what the server refuses.
func publish(ctx context.Context, t task.Task, p proposal.Preparation, suggest func() ([]report.File, error), page *report.Prepared) (commit string, err error) {
	switch {
	case t.Workflow.Unmerged != "":
		page.Refused = fmt.Sprintf("it is %s, to which nothing is pushed", t.Workflow.Unmerged)
	case t.Settings.Promote.DryRun:
		page.Refused = "dry-run is set"
	default:
		commit, err = pushPrepared(ctx, t, p)
		page.Commit, page.Refused = commit, words(err)
		if !errors.Is(err, remote.ErrAuth) && !errors.Is(err, remote.ErrRefused) {
			return commit, err
		}
	}
	files, failed := suggest()
	switch page.Suggestion = files; {
	case failed != nil:
		page.Refused = failed.Error()
	case err == nil && len(files) == 0:
		page.Refused = "" // there was nothing to push
	}
	return "", cmp.Or(err, failed)
}

// pushPrepared makes the commit on the pull request's branch; none where that has it.
func pushPrepared(ctx context.Context, t task.Task, p proposal.Preparation) (commit string, err error) {
	repo, err := t.OpenBranch(t.Workflow.HeadRef)
	if err != nil {
		return "", err
	}
	return p.Publish(ctx, t.Written(repo))
}

// words are the error's; empty without one.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// suggestion is what the commit would change on the pull request's head, in the order of the files' names.
func suggestion(ctx context.Context, p proposal.Preparation, pull proposal.Pull, repo *task.Branch) ([]report.File, error) {
	head, err := repo.At(ctx, pull.Merged.Commit.Parents[1])
	if err != nil {
		return nil, err
	}
	files, err := p.Files(ctx, head)
	if err != nil {
		return nil, err
	}
	var all []report.File
	for _, name := range slices.Sorted(maps.Keys(files)) {
		before, err := fs.ReadFile(head.Tree, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		all = append(all, report.File{Name: name, Before: before, After: files[name]})
	}
	return all, nil
}

// showPrepared tells the job summary and the pull request.
func showPrepared(ctx context.Context, t task.Task, page report.Prepared) {
	r := t.Console
	if !page.Tells() {
		r.Printf("no template changes under its revision's name")
		return
	}
	if err := r.Summarize(report.PreparedSummary(page, console.SummaryLimit)); err != nil {
		r.Warning(console.Note{Title: "Summary not written", Text: err.Error()})
	}
	if err := commentDiff(ctx, t, report.PreparedMarker, report.PreparedComment(page)); err != nil {
		r.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
	}
}

// logPrepared says what becomes of each Service. Errors are those that the run ends
// with.
func logPrepared(t task.Task, page report.Prepared) {
	r := t.Console
	for _, s := range page.Services {
		line := fmt.Sprintf("%s: %s", s.Overlay, s.InWords())
		switch {
		case s.Err != nil:
		case s.Skipped != "":
			r.Warning(console.Note{Title: "Not prepared", Text: line})
		default:
			r.Printf("%s", line)
		}
	}
	if page.Commit != "" {
		r.Printf("commit %.10s on branch %s", page.Commit, t.Workflow.HeadRef)
	}
	if len(page.Suggestion) > 0 {
		r.Warning(console.Note{Title: "Not pushed", Text: "the change that would make candidates of it stands in the comment and in the summary: " + page.Refused})
	}
}

// waiting tells which candidates the push has brought that wait for a promotion. Where a record is none of the tool's, as
// after somebody has merged what no diff has seen, there are none.
func waiting(ctx context.Context, t task.Task) (event.Result, error) {
	if strings.Trim(t.Workflow.Before, "0") == "" {
		return t.Looked(ctx, nil) // a new branch, to which nothing was merged
	}
	push, err := pushed(ctx, t)
	if err != nil {
		return t.Looked(ctx, err)
	}
	findings, err := foreignRecords(ctx, t, push)
	reporter.Annotate(t.Console, findings, true, event.SeverityError)
	if err = cmp.Or(err, exit.Found(inputs.FailOnError, findings)); err != nil {
		result, err := t.Looked(ctx, err)
		result.Findings = findings
		return result, err
	}
	waiting, err := promote.Waiting(t.Settings.Target.Source, push.Base, push.Merged)
	for _, c := range waiting {
		t.Console.Printf("%s: the candidate of %s waits for a promotion without image", c.Overlay, c.Service)
	}
	result, err := t.Looked(ctx, err)
	result.Candidates = waiting
	return result, err
}

// pushed is what the branch had before the event's push, and what it has since.
func pushed(ctx context.Context, t task.Task) (push proposal.Pull, err error) {
	repo, err := t.Open()
	if err != nil {
		return push, err
	}
	if push, err = merged(ctx, t, repo, "prepare looks at"); err != nil {
		return push, err
	}
	push.Base, err = repo.At(ctx, t.Workflow.Before)
	return push, err
}

// foreignRecords are what is wrong with the records that a push has brought.
func foreignRecords(ctx context.Context, t task.Task, push proposal.Pull) ([]event.Finding, error) {
	changed, err := gitops.Changed(push.Base, push.Merged)
	if err != nil {
		return nil, err
	}
	p, err := proposal.Propose(ctx, proposalOf(t.Settings.Promote), push)
	if err != nil {
		return nil, err
	}
	findings, _, err := p.Records(ctx, changed)
	return findings, err
}
