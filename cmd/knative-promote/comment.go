package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/report"
)

// How long the end of a run waits for its comment, and how long one write
// comes after another, as GitHub asks for. A cancelled run has ten seconds in
// all.
const (
	commentTime       = 15 * time.Second
	commentTimeCancel = time.Second
	commentPause      = time.Second
)

// A commenter keeps the comment on the pull request up to date, beside the run
// that it shows. It skips what it is too slow for.
type commenter struct {
	ctx      context.Context // of the requests, as what is told of a run has none
	settings inputs.Settings
	workflow console.Workflow
	console  *console.Console

	results chan promote.Result // newest state, at most one; nil: nothing is written yet
	closing chan struct{}       // the last state is offered
	done    chan struct{}       // it is written
}

// offer puts the newest state in the place of one that was not written yet.
// The first one starts the writing, where there can be a comment.
func (c *commenter) offer(result promote.Result) {
	switch {
	case c.settings.GitHubToken == "" || c.workflow.Repository == "":
		return
	case c.results == nil:
		c.results, c.closing, c.done = make(chan promote.Result, 1), make(chan struct{}), make(chan struct{})
		go c.write()
	}
	select {
	case <-c.results:
	default:
	}
	c.results <- result
}

// end waits until the last state is written.
func (c *commenter) end(ctx context.Context) {
	if c.results == nil {
		return
	}
	close(c.results)
	close(c.closing)
	wait := commentTime
	if ctx.Err() != nil {
		wait = commentTimeCancel
	}
	select {
	case <-c.done:
	case <-time.After(wait):
		c.warn(errors.New("the GitHub API took too long"))
	}
}

// write writes every state that is offered to the pull request, if there is
// one. What goes wrong is said once.
func (c *commenter) write() {
	defer close(c.done)
	pulls, pull, err := c.pullRequest()
	place := placeOf(c.settings)
	warned := false
	for result := range c.results {
		if pulls != nil && pull > 0 {
			err = writeComment(c.ctx, pulls, pull, report.Marker(result, place), report.Comment(result, place), c.console)
		}
		if err != nil && !warned {
			warned = true
			c.warn(err)
		}
		select {
		case <-time.After(commentPause):
		case <-c.closing:
		}
	}
}

// pullRequest finds where the comment belongs: 0 where there is no pull request.
func (c *commenter) pullRequest() (forge, int, error) {
	pulls, err := forgeOf(c.settings, c.workflow, c.console)
	if err != nil || c.settings.PullRequest > 0 || c.workflow.SHA == "" {
		return pulls, c.settings.PullRequest, err
	}
	pull, err := pulls.PullRequestOf(c.ctx, c.workflow.SHA)
	return pulls, pull, err
}

func (c *commenter) warn(err error) {
	c.console.Warning(console.Note{Title: "Comment not written", Text: err.Error()})
}

// writeComment writes a comment without secrets. It is found by its marker,
// whatever words are secrets.
func writeComment(ctx context.Context, pulls forge, pull int, marker, text string, c *console.Console) error {
	return pulls.Upsert(ctx, pull, marker, marker+c.Redact(strings.TrimPrefix(text, marker)))
}
