package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/acme/knative-promote/argo/argotest"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/promote/github/githubtest"
)

// What is promoted, as testdata/infra lays it out.
const (
	service     = "product-import"
	namespace   = "production"
	overlay     = "apps/product-import/overlays/production"
	application = "product-import-production"
)

// The sandbox's secrets. None may show up in what the command prints.
const (
	gitToken  = "sandbox-git-token"
	argoToken = "sandbox-argocd-token"
	hubToken  = "sandbox-github-token"
)

// speed is how many times faster than a real cluster the model runs.
const speed = 4

// world is everything that the command talks to.
type world struct {
	dir        string // scratch folder
	binary     string // the command
	repository string // URL of the infra repository
	bare       string // the same on disk
	repo       *gitops.Repo
	argo       *argotest.Server
	hub        *hub
	stops      []func()
}

// hub is the GitHub API of the service's repository.
type hub struct {
	*githubtest.Server
	url string
}

// start builds the command and starts the servers.
func start(ctx context.Context) (*world, error) {
	dir, err := os.MkdirTemp("", "knative-promote-sandbox-")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, stops: []func(){func() { _ = os.RemoveAll(dir) }}}
	if err := w.begin(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *world) begin(ctx context.Context) error {
	module, err := moduleFolder(ctx)
	if err != nil {
		return err
	}
	for _, begin := range []func() error{
		func() error { return w.build(ctx, module) },
		func() error { return w.startGit(module) },
		w.startArgo,
		w.startHub,
		func() error { return w.settle(ctx) },
	} {
		if err := begin(); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) close() {
	for i := len(w.stops) - 1; i >= 0; i-- {
		w.stops[i]()
	}
}

// moduleFolder is where this module's source is, from any folder inside it.
func moduleFolder(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	path, dir, found := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !found || path != "github.com/acme/knative-promote" {
		return "", errors.Join(errors.New("start it inside a checkout of knative-promote: go run ./cmd/sandbox"), err)
	}
	return dir, nil
}

func (w *world) build(ctx context.Context, module string) error {
	w.binary = filepath.Join(w.dir, "knative-promote")
	build := exec.CommandContext(ctx, "go", "build", "-o", w.binary, "./cmd/knative-promote")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the command: %w\n%s", err, out)
	}
	return nil
}

func (w *world) startGit(module string) error {
	root := filepath.Join(w.dir, "git")
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	bare, err := gittest.Repository{}.Init(root, "acme/infra.git", os.DirFS(filepath.Join(module, "testdata", "infra")))
	if err != nil {
		return fmt.Errorf("making the infra repository: %w", err)
	}
	url, stop, err := (&gittest.Server{Root: root, Token: gitToken}).Serve()
	if err != nil {
		return err
	}
	w.stops = append(w.stops, stop)
	w.bare, w.repository = bare, url+"/acme/infra.git"
	w.repo, err = gitops.Open(gitops.Remote{URL: w.repository, Branch: "main", Token: gitToken})
	return err
}

func (w *world) startArgo() error {
	server, err := argotest.Start(argotest.Config{Token: argoToken, Speed: speed, Apps: []argotest.App{{
		Name: application, RepoURL: w.repository, GitDir: w.bare, Path: overlay,
		DestinationNamespace: namespace, AutoSync: true, SelfHeal: true,
	}}})
	if err != nil {
		return fmt.Errorf("starting Argo CD: %w", err)
	}
	w.argo = server
	w.stops = append(w.stops, server.Close)
	return nil
}

func (w *world) startHub() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.hub = &hub{
		Server: &githubtest.Server{Repository: "acme/product-import", Token: hubToken, Login: "github-actions[bot]"},
		url:    "http://" + listener.Addr().String(),
	}
	server := &http.Server{Handler: w.hub, ReadHeaderTimeout: time.Minute}
	w.stops = append(w.stops, func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }() // returns when it is closed
	return nil
}

// settle waits until Argo CD has synced the example for the first time.
func (w *world) settle(ctx context.Context) error {
	for {
		if live := w.argo.Service(namespace, service); live != nil && live.IsReady() && len(w.argo.Traffic(namespace, service)) > 0 {
			return nil
		}
		if err := sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("waiting for the example to be live: %w", err)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
