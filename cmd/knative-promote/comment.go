package main

import (
	"context"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/report"
)

// A commenter keeps the comment on the pull request up to date.
type commenter struct {
	ctx      context.Context // of the requests, as what is told of a run has none
	settings inputs.Settings
	workflow console.Workflow
	console  *console.Console
}

// begin finds the pull request. There can be none.
func (c commenter) begin() (func(promote.Result) error, error) {
	pulls, pull, err := c.pullRequest()
	if pulls == nil || pull == 0 {
		return nil, err
	}
	place := placeOf(c.settings)
	return func(result promote.Result) error {
		return writeComment(c.ctx, pulls, pull, report.Marker(result, place), report.Comment(result, place), c.console)
	}, err
}

// pullRequest finds where the comment belongs: 0 where there is no pull request.
func (c commenter) pullRequest() (forge, int, error) {
	pulls, err := forgeOf(c.settings, c.workflow, c.console)
	if err != nil || c.settings.PullRequest > 0 || c.workflow.SHA == "" {
		return pulls, c.settings.PullRequest, err
	}
	pull, err := pulls.PullRequestOf(c.ctx, c.workflow.SHA)
	return pulls, pull, err
}

// writeComment writes a comment without secrets. It is found by its marker,
// whatever words are secrets.
func writeComment(ctx context.Context, pulls forge, pull int, marker, text string, c *console.Console) error {
	return pulls.Upsert(ctx, pull, marker, marker+c.Redact(strings.TrimPrefix(text, marker)))
}
