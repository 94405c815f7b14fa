package main

import (
	"context"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// comment keeps the comment on the pull request up to date. There can be no pull
// request.
func (w forgeWriter) comment() (func(event.Result) error, error) {
	pulls, pull, err := w.pullRequest()
	if pulls == nil || pull == 0 {
		return nil, err
	}
	place := placeOf(w.settings)
	return func(result event.Result) error {
		return writeComment(w.ctx, pulls, pull, report.Marker(result, place), report.Comment(result, place), w.console)
	}, err
}

// pullRequest finds where the comment belongs: 0 where there is no pull request.
func (w forgeWriter) pullRequest() (forge, int, error) {
	pulls, err := forgeOf(w.settings, w.workflow, w.console)
	if err != nil || w.settings.PullRequest > 0 || w.workflow.SHA == "" {
		return pulls, w.settings.PullRequest, err
	}
	pull, err := pulls.PullRequestOf(w.ctx, w.workflow.SHA)
	return pulls, pull, err
}

// writeComment writes a comment without secrets. It is found by its marker,
// whatever words are secrets.
func writeComment(ctx context.Context, pulls forge, pull int, marker, text string, c *console.Console) error {
	return pulls.Upsert(ctx, pull, marker, marker+c.Redact(strings.TrimPrefix(text, marker)))
}
