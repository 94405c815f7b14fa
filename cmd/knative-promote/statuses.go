package main

import (
	"context"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/report"
)

// statuses are the commit statuses of the infra repository, by the functions
// of GitHub's client: see gitHub.
type statuses struct{ *infraForge }

// States are the states of a commit's statuses, by their names.
func (s statuses) States(ctx context.Context, commit string) (map[string]string, error) {
	return asked(ctx, s.infraForge, func(c *github.Client) (map[string]string, error) { return c.States(ctx, commit) })
}

// statuses sets the statuses of the commits of a run as they change.
func (w forgeWriter) statuses() (func(event.Result) error, error) {
	on, err := forgeOfInfra(w.settings, w.workflow, w.console, github.Statuses)
	if err != nil {
		return nil, err
	}
	written := map[string]report.Status{} // by commit
	return func(result event.Result) error {
		for _, s := range report.Statuses(result) {
			if written[s.Commit] == s {
				continue
			}
			if err := w.setStatus(on, s); err != nil {
				return err
			}
			written[s.Commit] = s
		}
		return nil
	}, nil
}

// setStatus sets a status that is not there yet: GitHub takes a thousand of a name for
// one commit (https://docs.github.com/rest/commits/statuses#create-a-commit-status).
func (w forgeWriter) setStatus(on *infraForge, s report.Status) error {
	client, err := on.client(w.ctx)
	if err != nil {
		return err
	}
	if s.Found {
		there, err := client.States(w.ctx, s.Commit)
		if err != nil || s.Stands(there[s.Context]) {
			return err
		}
	}
	return client.SetStatus(w.ctx, s.Commit, github.CommitStatus{Context: w.console.Redact(s.Context), State: s.State, Description: w.console.Redact(s.Description), URL: w.workflow.RunURL})
}
