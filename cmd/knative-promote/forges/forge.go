package forges

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/promote/github"
)

// A Forge is where the pull requests are. GitHub is the only one yet.
type Forge interface {
	// Upsert writes the comment that has the marker, or a new one.
	Upsert(ctx context.Context, pull int, marker, body string) error
	// PullRequestOf is the pull request that a commit came from, or 0.
	PullRequestOf(ctx context.Context, commit string) (int, error)
	// UnmergedOfFork says whether a pull request is a fork's that nobody has merged.
	UnmergedOfFork(ctx context.Context, pull int) (bool, error)
	// Approvals are who has approved of an environment in a workflow run.
	Approvals(ctx context.Context, run int64, environment string) ([]string, error)
}

// Open speaks to the repository of the workflow. What needs it can be done
// without, so a token that would travel without TLS is only not sent.
func Open(s inputs.Settings, w console.Workflow, c *console.Console) (Forge, error) {
	client, err := hubOf(s, w, c)
	if err != nil {
		return nil, err
	}
	return client, nil
}

func hubOf(s inputs.Settings, w console.Workflow, c *console.Console) (*github.Client, error) {
	if s.GitHubToken != "" && inputs.InClear(w.APIURL) {
		return nil, fmt.Errorf("github-token must not travel without TLS, and GITHUB_API_URL is %q: expected an https URL there", w.APIURL)
	}
	return github.New(github.Config{Token: s.GitHubToken, APIURL: w.APIURL, Repository: w.Repository, Transport: c.Trace("GitHub")(httpx.Default())})
}

// CheckPullRequest asks GitHub whose pull request or commit it is where the event does
// not tell, as of a comment and of a deployment.
func CheckPullRequest(ctx context.Context, s inputs.Settings, w console.Workflow, c *console.Console) error {
	if !w.Untold && w.Deployed == "" || !s.Command.Pushes() {
		return nil
	}
	of, what, wanted := fmt.Sprintf("pull request %d", w.PullRequest), "a fork's pull request", "pull-requests: read"
	if !w.Untold {
		of, what, wanted = fmt.Sprintf("commit %.12q", w.Deployed), "a commit of no branch, as a fork's is,", "contents: read"
	}
	ofFork, err := isOfFork(ctx, s, w, c)
	switch {
	case err != nil:
		return &inputs.BadInput{Lines: []string{fmt.Sprintf("command: %q: the event %s does not tell whether %s is a fork's, and GitHub cannot be asked: %v; "+
			"expected a github-token with the permission %s, or a workflow that runs after the merge", s.Command, w.EventName, of, err, wanted)}}
	case ofFork:
		return &inputs.BadInput{Lines: []string{s.NotMerged(what, w)}}
	}
	return nil
}

// isOfFork asks GitHub. A commit is taken for a fork's where no branch has it: a fork's are there too.
func isOfFork(ctx context.Context, s inputs.Settings, w console.Workflow, c *console.Console) (bool, error) {
	hub, err := hubOf(s, w, c)
	if err != nil {
		return false, err
	}
	if w.Untold {
		return hub.UnmergedOfFork(ctx, w.PullRequest)
	}
	has, err := github.HasCommit(ctx, hub, w.Deployed)
	return !has, err
}
