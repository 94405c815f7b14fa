package forges

import (
	"context"
	"fmt"
	"net/http"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
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
	if s.GitHubToken != "" && inputs.InClear(w.APIURL) {
		return nil, fmt.Errorf("github-token must not travel without TLS, and GITHUB_API_URL is %q: expected an https URL there", w.APIURL)
	}
	client, err := github.New(github.Config{Token: s.GitHubToken, APIURL: w.APIURL, Repository: w.Repository, Transport: c.Trace("GitHub")(http.DefaultTransport)})
	if err != nil {
		return nil, err
	}
	return client, nil
}

// CheckPullRequest asks GitHub whose pull request it is where the event does
// not tell, as of a comment.
func CheckPullRequest(ctx context.Context, s inputs.Settings, w console.Workflow, c *console.Console) error {
	if !w.Untold || !s.Command.Pushes() {
		return nil
	}
	ofFork := false
	pulls, err := Open(s, w, c)
	if err == nil {
		ofFork, err = pulls.UnmergedOfFork(ctx, w.PullRequest)
	}
	switch {
	case err != nil:
		return &inputs.BadInput{Lines: []string{fmt.Sprintf("command: %q: the event %s does not tell whether pull request %d is a fork's, and GitHub cannot be asked: %v; "+
			"expected a github-token with the permission pull-requests: read, or a workflow that runs after the merge", s.Command, w.EventName, w.PullRequest, err)}}
	case ofFork:
		return &inputs.BadInput{Lines: []string{s.NotMerged("a fork's pull request", w)}}
	}
	return nil
}
