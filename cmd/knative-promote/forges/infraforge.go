package forges

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/httpx"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/github"
)

// Infra is the forge that has the infra repository.
type Infra struct {
	api   string                                    // address of the API
	name  string                                    // owner/name
	Token func(ctx context.Context) (string, error) // for each request
	trace func(http.RoundTripper) http.RoundTripper
}

// OpenInfra speaks to that forge with tokens for one purpose.
func OpenInfra(s inputs.Settings, w console.Workflow, c *console.Console, purpose github.Purpose) (*Infra, error) {
	token, err := appToken(s, w, c, purpose)
	if err != nil {
		return nil, err
	}
	if token == nil {
		token = func(context.Context) (string, error) { return s.Remote.Token, nil }
	}
	return &Infra{api: w.APIURL, name: repourl.Read(s.Remote.URL).Name(), Token: token, trace: c.Trace("GitHub")}, nil
}

func (f *Infra) client(ctx context.Context) (*github.Client, error) {
	token, err := f.Token(ctx)
	if err != nil {
		return nil, err
	}
	return github.New(github.Config{Token: token, APIURL: f.api, Repository: f.name, Transport: f.trace(httpx.Default())})
}

// appToken has tokens of the GitHub App made for one purpose; nil where there is
// no App. An App that may not do the one still may do the other.
func appToken(s inputs.Settings, w console.Workflow, c *console.Console, purpose github.Purpose) (func(context.Context) (string, error), error) {
	if s.App.ID == "" {
		return nil, nil
	}
	app, err := github.NewApp(s.App.ID, s.App.Key, github.Config{APIURL: w.APIURL, Repository: repourl.Read(s.Remote.URL).Name(), Transport: c.Trace("GitHub")(httpx.Default())})
	if err != nil {
		return nil, err
	}
	app.Purpose = purpose
	return func(ctx context.Context) (string, error) {
		token, err := app.Token(ctx)
		if errors.Is(err, github.ErrApp) {
			err = fmt.Errorf("%w: %w", remote.ErrAuth, err)
		}
		c.Hide(token)
		return token, err
	}, nil
}

// Commit has the forge make a commit in the infra repository.
func (f *Infra) Commit(ctx context.Context, c gitops.APICommit) error {
	_, err := asked(ctx, f, func(client *github.Client) (struct{}, error) {
		return struct{}{}, client.CreateCommit(ctx, github.NewCommit(c))
	})
	switch {
	case errors.Is(err, github.ErrStale):
		return fmt.Errorf("%w: %w", gitops.ErrStale, err)
	case errors.Is(err, github.ErrCommitRefused):
		return fmt.Errorf("%w: %w: let the token's owner change the branch, or change the rule", remote.ErrRefused, err)
	}
	return err
}
