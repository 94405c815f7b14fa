package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/repourl"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/report"
)

// statuses are the commit statuses of the infra repository, by the functions
// of GitHub's client: see gitHub.
type statuses struct {
	api   string                                    // address of the API
	name  string                                    // owner/name
	token func(ctx context.Context) (string, error) // for each request
	trace func(http.RoundTripper) http.RoundTripper
}

// statusesOf speaks to the forge that has the infra repository.
func statusesOf(s inputs.Settings, w console.Workflow, c *console.Console) (*statuses, error) {
	token, err := appToken(s, w, c, true)
	if err != nil {
		return nil, err
	}
	if token == nil {
		token = func(context.Context) (string, error) { return s.Remote.Token, nil }
	}
	return &statuses{api: w.APIURL, name: repourl.Read(s.Remote.URL).Name(), token: token, trace: c.Trace("GitHub")}, nil
}

func (s *statuses) client(ctx context.Context) (*github.Client, error) {
	token, err := s.token(ctx)
	if err != nil {
		return nil, err
	}
	return github.New(github.Config{Token: token, APIURL: s.api, Repository: s.name, Transport: s.trace(http.DefaultTransport)})
}

// States are the states of a commit's statuses, by their names.
func (s *statuses) States(ctx context.Context, commit string) (map[string]string, error) {
	client, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	return client.States(ctx, commit)
}

// A statusWriter sets the statuses of the commits of a run as they change.
type statusWriter struct {
	ctx      context.Context // of the requests
	settings inputs.Settings
	workflow console.Workflow
	console  *console.Console
}

func (w statusWriter) begin() (func(promote.Result) error, error) {
	on, err := statusesOf(w.settings, w.workflow, w.console)
	if err != nil {
		return nil, err
	}
	written := map[string]report.Status{} // by commit
	return func(result promote.Result) error {
		for _, s := range report.Statuses(result) {
			if written[s.Commit] == s {
				continue
			}
			if err := w.write(on, s); err != nil {
				return err
			}
			written[s.Commit] = s
		}
		return nil
	}, nil
}

func (w statusWriter) write(on *statuses, s report.Status) error {
	client, err := on.client(w.ctx)
	if err != nil {
		return err
	}
	return client.SetStatus(w.ctx, s.Commit, github.CommitStatus{Context: w.console.Redact(s.Context), State: s.State, Description: w.console.Redact(s.Description), URL: w.workflow.RunURL})
}

// appToken has tokens of the GitHub App made, for pushing to the infra repository or
// for its statuses; nil where there is no App. An App that may not do the one
// still may do the other.
func appToken(s inputs.Settings, w console.Workflow, c *console.Console, statuses bool) (func(context.Context) (string, error), error) {
	if s.App.ID == "" {
		return nil, nil
	}
	app, err := github.NewApp(s.App.ID, s.App.Key, github.Config{APIURL: w.APIURL, Repository: repourl.Read(s.Remote.URL).Name(), Transport: c.Trace("GitHub")(http.DefaultTransport)})
	if err != nil {
		return nil, err
	}
	app.Statuses = statuses
	return func(ctx context.Context) (string, error) {
		token, err := app.Token(ctx)
		if errors.Is(err, github.ErrApp) {
			err = fmt.Errorf("%w: %w", gitops.ErrAuth, err)
		}
		c.Hide(token)
		return token, err
	}, nil
}
