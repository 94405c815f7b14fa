package forges

import (
	"context"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/report"
)

// Comment keeps the comment on the pull request up to date. There can be no pull
// request.
func (w Writer) Comment(place report.Place) (func(event.Result) error, error) {
	pulls, pull, err := w.pullRequest()
	if pulls == nil || pull == 0 {
		return nil, err
	}
	return func(result event.Result) error {
		return WriteComment(w.Context, pulls, pull, report.Marker(result, place), report.Comment(result, place), w.Console)
	}, err
}

// pullRequest finds where the comment belongs: 0 where there is no pull request.
func (w Writer) pullRequest() (Forge, int, error) {
	pulls, err := Open(w.Settings, w.Workflow, w.Console)
	if err != nil || w.Settings.PullRequest > 0 || w.Workflow.SHA == "" {
		return pulls, w.Settings.PullRequest, err
	}
	pull, err := pulls.PullRequestOf(w.Context, w.Workflow.SHA)
	return pulls, pull, err
}

// WriteComment writes a comment without secrets. It is found by its marker,
// whatever words are secrets.
func WriteComment(ctx context.Context, pulls Forge, pull int, marker, text string, c *console.Console) error {
	return pulls.Upsert(ctx, pull, marker, marker+c.Redact(strings.TrimPrefix(text, marker)))
}
