// Package servers starts what the program talks to, on loopback: a Git server
// with an infra repository, an Argo CD API over a model of Knative that syncs
// it, and a GitHub API. Tests and the sandbox run the program against them.
package servers

import (
	"context"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// Config says what the servers are like.
type Config struct {
	// Folder is where the Git server keeps its repositories; it is made.
	Folder string
	// Infra is the infra repository acme/infra at its beginning. It takes no forced push.
	Infra fs.FS
	// GitToken is the password of the infra repository; empty: everybody may push.
	GitToken string
	// App is the Application, without its repository.
	App argotest.App
	// More are other Applications of the same repository.
	More []argotest.App
	// Argo is the rest of Argo CD.
	Argo argotest.Config
	// GitHub is the API of the service's repository.
	GitHub *githubtest.Server
	// Around wraps the server named git, argocd, ingress or github; nil wraps none.
	Around func(name string, next http.Handler) http.Handler
}

// Servers are under way.
type Servers struct {
	Repository string // URL of the infra repository
	Bare       string // the same on disk
	Argo       *argotest.Server
	GitHub     string // URL of the API

	app   argotest.App
	more  []argotest.App
	stops []func()
}

// Start starts the servers. Whoever has them closes them.
func Start(c Config) (*Servers, error) {
	if c.Around == nil {
		c.Around = func(_ string, next http.Handler) http.Handler { return next }
	}
	s := &Servers{app: c.App, more: c.More}
	for _, start := range []func(Config) error{s.startGit, s.startArgo, s.startGitHub} {
		if err := start(c); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// Close ends them, the newest first.
func (s *Servers) Close() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
	s.stops = nil
}

func (s *Servers) startGit(c Config) (err error) {
	if err := os.MkdirAll(c.Folder, 0o755); err != nil {
		return err
	}
	if s.Bare, err = (gittest.Repository{FastForward: true}).Init(c.Folder, filepath.Join("acme", "infra.git"), c.Infra); err != nil {
		return fmt.Errorf("making the infra repository: %w", err)
	}
	server := &gittest.Server{Root: c.Folder, Token: c.GitToken, Around: func(next http.Handler) http.Handler { return c.Around("git", next) }}
	url, stop, err := server.Serve()
	if err != nil {
		return err
	}
	s.stops = append(s.stops, stop)
	s.Repository = url + "/acme/infra.git"
	return nil
}

func (s *Servers) startArgo(c Config) (err error) {
	for _, app := range append([]argotest.App{c.App}, c.More...) {
		app.RepoURL, app.GitDir = s.Repository, s.Bare
		c.Argo.Apps = append(c.Argo.Apps, app)
	}
	c.Argo.Middleware = func(next http.Handler) http.Handler { return c.Around("argocd", next) }
	c.Argo.Ingress = func(next http.Handler) http.Handler { return c.Around("ingress", next) }
	if s.Argo, err = argotest.Start(c.Argo); err != nil {
		return fmt.Errorf("starting Argo CD: %w", err)
	}
	s.stops = append(s.stops, s.Argo.Close)
	return nil
}

func (s *Servers) startGitHub(c Config) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening for GitHub's clients: %w", err)
	}
	server := &http.Server{Handler: c.Around("github", c.GitHub), ReadHeaderTimeout: time.Minute}
	s.stops = append(s.stops, func() { _ = server.Close() })
	s.GitHub = "http://" + listener.Addr().String()
	go func() { _ = server.Serve(listener) }() // returns when it is closed
	return nil
}

// AwaitLive waits until Argo CD has synced the infra repository for the first
// time, and the Service has its traffic. It has looked at Git after that sync
// then, and does not by itself find what is committed next. So it is with the
// Service's other environments, as far as their overlays render and their Services become Ready.
func (s *Servers) AwaitLive(ctx context.Context, service string) error {
	if err := s.await(ctx, service, func() bool {
		live := s.Argo.Service(s.app.DestinationNamespace, service)
		return live != nil && live.IsReady() && len(s.Argo.Traffic(s.app.DestinationNamespace, service)) > 0
	}); err != nil {
		return err
	}
	for _, app := range append([]argotest.App{s.app}, s.more...) {
		if err := s.await(ctx, service, func() bool { return s.ended(app, service) }); err != nil {
			return err
		}
		s.Argo.Refresh(app.Name)
		if err := s.await(ctx, service, func() bool {
			_, asked := s.Argo.Application(app.Name).IsRefreshRequested()
			return !asked
		}); err != nil {
			return err
		}
	}
	return nil
}

// ended tells whether the first sync of an Application has come to an end, and what becomes of its Service.
func (s *Servers) ended(app argotest.App, service string) bool {
	status := s.Argo.Application(app.Name).Status
	if !app.AutoSync || len(status.Conditions) > 0 {
		return true
	}
	live := s.Argo.Service(app.DestinationNamespace, service)
	return status.OperationState != nil && status.OperationState.Phase.Completed() &&
		(live == nil || !live.Status.GetCondition(servingv1.ServiceConditionReady).IsUnknown())
}

func (s *Servers) await(ctx context.Context, service string, done func() bool) error {
	for !done() {
		select {
		case <-ctx.Done():
			status := s.Argo.Application(s.app.Name).Status
			return fmt.Errorf("waiting for %s to be live: %w; Argo CD says %s, %v, of its last sync %+v",
				service, ctx.Err(), status.Sync.Status, status.Conditions, status.OperationState)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
