package forges

import (
	"context"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/report"
)

// Statuses are the commit statuses of the infra repository, by the functions
// of GitHub's client: see gitHub.
type Statuses struct{ *Infra }

// States are the states of a commit's statuses, by their names.
func (s Statuses) States(ctx context.Context, commit string) (map[string]string, error) {
	return asked(ctx, s.Infra, func(c *github.Client) (map[string]string, error) { return c.States(ctx, commit) })
}

// Statuses sets the statuses of the commits of a run as they change.
func (w Writer) Statuses() (func(event.Result) error, error) {
	on, err := OpenInfra(w.Settings, w.Workflow, w.Console, github.Statuses)
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
func (w Writer) setStatus(on *Infra, s report.Status) error {
	client, err := on.client(w.Context)
	if err != nil {
		return err
	}
	if s.Found {
		there, err := client.States(w.Context, s.Commit)
		if err != nil || s.Stands(there[s.Context]) {
			return err
		}
	}
	return client.SetStatus(w.Context, s.Commit, github.CommitStatus{Context: w.Console.Redact(s.Context), State: s.State, Description: w.Console.Redact(s.Description), URL: w.Workflow.RunURL})
}
