package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/servers"
)

// What is promoted, as testdata/infra lays it out.
const (
	service     = "product-import"
	namespace   = "production"
	overlay     = "apps/product-import/overlays/production"
	application = "product-import-production"
	staging     = "apps/product-import/overlays/staging"
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
	number int // of the story, each of which is a workflow run of its own
	*servers.Servers
	hub    *githubtest.Server
	repo   *gitops.Repo
	views  views
	dir    string // scratch folder
	binary string // the command
}

// start builds the command and starts the servers.
func start(ctx context.Context) (*world, error) {
	dir, err := os.MkdirTemp("", "knative-promote-sandbox-")
	if err != nil {
		return nil, err
	}
	w := &world{dir: dir, hub: &githubtest.Server{Repository: "acme/product-import", Token: hubToken, Login: "github-actions[bot]"}}
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
	if err := w.build(ctx, module); err != nil {
		return err
	}
	w.Servers, err = servers.Start(servers.Config{
		Folder: filepath.Join(w.dir, "git"), Infra: os.DirFS(filepath.Join(module, "testdata", "infra")), GitToken: gitToken,
		App:    argotest.App{Name: application, Path: overlay, DestinationNamespace: namespace, AutoSync: true, SelfHeal: true},
		More:   []argotest.App{{Name: "product-import-staging", Path: staging, DestinationNamespace: "staging", AutoSync: true, SelfHeal: true}},
		Argo:   argotest.Config{Token: argoToken, Speed: speed},
		GitHub: w.hub, Around: w.aroundPushes,
	})
	if err != nil {
		return err
	}
	w.repo, err = gitops.Open(remote.Config{URL: w.Repository, Branch: "main", Token: gitToken})
	return err
}

func (w *world) close() {
	if w.Servers != nil {
		w.Close()
	}
	_ = os.RemoveAll(w.dir)
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
