package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/github"
)

// execute does what the settings ask for and says how it ended. The result is
// as complete as the run has come, also beside an error. The context ends when
// somebody cancels the run or its time is over, cancelled tells the former.
func execute(ctx context.Context, cancelled <-chan struct{}, s inputs.Settings, w console.Workflow, r *console.Console) (promote.Result, error) {
	if err := checkPullRequest(ctx, s, w); err != nil {
		return looked(ctx, s, err)
	}
	show := newReporter(ctx, s, w, r)
	on, err := connect(s, w, show)
	if err != nil {
		return promote.Result{Command: string(s.Command), Status: promote.Failed}, err
	}
	on.Cancelled = cancelled
	var result promote.Result
	switch {
	case s.Command == inputs.History:
		return looked(ctx, s, history(ctx, s.Promote.Target, on.Branch, r))
	case s.Command == inputs.Check:
		return examine(ctx, s, w, on, r)
	case s.DiffsCheckout():
		return looked(ctx, s, diffCheckout(ctx, s, w, r))
	case s.Command == inputs.Rollback:
		result, err = promote.Rollback(ctx, s.Promote, on)
	default:
		result, err = promote.Run(ctx, s.Promote, on)
	}
	return show.end(ctx, result, err)
}

// looked is how a command ends that only looks.
func looked(ctx context.Context, s inputs.Settings, err error) (promote.Result, error) {
	if err != nil {
		return promote.Result{Command: string(s.Command), Status: cutShort(ctx)}, overtime(ctx, err)
	}
	return promote.Result{Command: string(s.Command), Status: promote.Unchanged}, nil
}

// cutShort is the status of a run that failed, or that was cancelled before it
// came to anything.
func cutShort(ctx context.Context) promote.Status {
	if errors.Is(ctx.Err(), context.Canceled) {
		return promote.Cancelled
	}
	return promote.Failed
}

// overtime says that the run's own timeout ended it, where what was cut short
// only says that it got no answer.
func overtime(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, promote.ErrTimeout) || !errors.Is(context.Cause(ctx), promote.ErrTimeout) {
		return err
	}
	return fmt.Errorf("%w: %w", promote.ErrTimeout, err)
}

// connect makes what a run works on: the infra repository and Argo CD, which a
// plan alone can do without.
func connect(s inputs.Settings, w console.Workflow, show *reporter) (promote.Systems, error) {
	on := promote.Systems{Reporter: show}
	if s.Checkout {
		on.Branch = checkedOut{w.Workspace}
	} else {
		repo, err := open(s, w, show.console)
		if err != nil {
			return on, err
		}
		repo.Author, repo.Committer = s.Author, s.Committer
		on.Branch, on.Commits, on.PushRight = masked{repo, show.console.Redact}, repo, repo
	}
	if s.Argo.Server == "" {
		return on, nil
	}
	cluster, err := argo.New(s.Argo)
	if err != nil {
		return on, err
	}
	on.Cluster, on.Settings = cluster, cluster
	return on, nil
}

// open opens the infra repository, with tokens of the GitHub App where there is
// one.
func open(s inputs.Settings, w console.Workflow, r *console.Console) (*gitops.Repo, error) {
	remote := s.Remote
	if s.App.ID == "" {
		return gitops.Open(remote)
	}
	app, err := github.NewApp(s.App.ID, s.App.Key, github.Config{APIURL: w.APIURL, Repository: inputs.Slug(remote.URL)})
	if err != nil {
		return nil, err
	}
	remote.Mint = func(ctx context.Context) (string, error) {
		token, err := app.Token(ctx)
		if errors.Is(err, github.ErrApp) {
			err = fmt.Errorf("%w: %w", gitops.ErrAuth, err)
		}
		r.Hide(token)
		return token, err
	}
	return gitops.Open(remote)
}

// masked keeps secrets out of what commits say in words: a reason may quote
// what a user passed on by mistake, or a foreign server's answer.
type masked struct {
	promote.Branch
	redact func(string) string
}

func (m masked) Publish(ctx context.Context, change gitops.Change) (gitops.Commit, error) {
	change.Subject = m.redact(change.Subject)
	change.Trailers = slices.Clone(change.Trailers)
	for i, t := range change.Trailers {
		change.Trailers[i].Value = m.redact(t.Value)
	}
	return m.Branch.Publish(ctx, change)
}

// history prints the promotions that the record has, newest first.
func history(ctx context.Context, target promote.Target, branch promote.Branch, r *console.Console) error {
	service, entries, err := promote.History(ctx, target, branch)
	if err != nil {
		return err
	}
	if len(entries) == 0 {
		r.Printf("no promotion of %s in the record of %s yet", service, target.Overlay)
		return nil
	}
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "STARTED\tENDED\tREVISION\tFROM\tIMAGES\tBASE\tBY")
	for _, e := range entries {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%.10s\t%s\n",
			e.Started.UTC().Format("2006-01-02 15:04 UTC"), cmp.Or(string(e.Ended), "under way"), e.To.Revision, e.From.Revision,
			strings.Join(e.To.Images, ","), e.Base, e.Actor)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	r.Printf("%s", text.String())
	return nil
}
