package gitops_test

import (
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// infra is the content of a small infra repository.
func infra() fstest.MapFS {
	return fstest.MapFS{
		"README.md":                      {Data: []byte("infra\n")},
		"apps/web/base/service.yaml":     {Data: []byte("kind: Service\n")},
		"apps/web/overlays/prod/k.yaml":  {Data: []byte("images: []\n")},
		"apps/web/overlays/prod/p/a.txt": {Data: []byte("a\n")},
		"apps/web/overlays/stage/k.yaml": {Data: []byte("images: []\n")},
		"apps/other/base/service.yaml":   {Data: []byte("kind: Service\n")},
		"tools/run.sh":                   {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		"tools/latest":                   {Data: []byte("run.sh"), Mode: fs.ModeSymlink | 0o777},
	}
}

// server is a repository on a server of its own.
type server struct {
	dir, url string
}

// serve makes a repository with content and serves it.
func serve(t *testing.T, made gittest.Repository, content fs.FS, around func(http.Handler) http.Handler) server {
	t.Helper()
	root := t.TempDir()
	dir, err := made.Init(root, "infra.git", content)
	if err != nil {
		t.Fatal(err)
	}
	s := &gittest.Server{Root: root, Around: around}
	url, stop, err := s.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return server{dir, url + "/infra.git"}
}

// open opens the repository's branch main with a fixed clock.
func (s server) open(t *testing.T) *gitops.Repo {
	t.Helper()
	return open(t, remote.Config{URL: s.url, Branch: "main"})
}

func open(t *testing.T, c remote.Config) *gitops.Repo {
	t.Helper()
	r, err := gitops.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	r.Author = gitops.Person{Name: "Ada", Email: "ada@example.com"}
	r.Committer = gitops.Person{Name: "knative-promote", Email: "bot@example.com"}
	r.Now = func() time.Time { return time.Unix(1_800_000_000, 0).UTC() }
	return r
}

// git runs git in the server's repository.
func (s server) git(t testing.TB, args ...string) string {
	t.Helper()
	out, err := gittest.Git(s.dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// write is a change that writes one file.
func write(path, content string) gitops.Change {
	return gitops.Change{
		Subject: "Write " + path,
		Edit: func(gitops.Snapshot) (map[string][]byte, error) {
			return map[string][]byte{path: []byte(content)}, nil
		},
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	r := s.open(t)
	before, err := r.Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	change := write("apps/web/overlays/prod/k.yaml", "images: [new]\n")
	change.Subject = "web prod: new"
	change.Trailers = []gitops.Trailer{{Key: "Promotion", Value: "p1"}, {Key: "Promotion-Step", Value: "candidate"}}
	got, err := r.Publish(t.Context(), change)
	if err != nil {
		t.Fatal(err)
	}
	want := gitops.Commit{
		Hash:    s.git(t, "rev-parse", "main"),
		Parents: []string{before.Commit.Hash},
		Author:  gitops.Person{Name: "Ada", Email: "ada@example.com"},
		Time:    time.Unix(1_800_000_000, 0).UTC(),
		Subject: "web prod: new",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commit (-want +got):\n%s", diff)
	}
	if got, want := s.git(t, "diff", "--name-status", "main^", "main"), "M\tapps/web/overlays/prod/k.yaml"; got != want {
		t.Errorf("changed %q, want %q", got, want)
	}
	if got, want := s.git(t, "log", "-1", "--format=%an <%ae> %cn <%ce>%n%B"), "Ada <ada@example.com> knative-promote <bot@example.com>\nweb prod: new\n\nPromotion: p1\nPromotion-Step: candidate"; strings.TrimSpace(got) != want {
		t.Errorf("git log:\n%s\nwant:\n%s", got, want)
	}
	s.git(t, "fsck", "--strict")
}

// counting counts the requests that reach the server.
func counting(requests *atomic.Int64) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			next.ServeHTTP(w, r)
		})
	}
}
