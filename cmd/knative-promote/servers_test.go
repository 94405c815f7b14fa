package main

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/servers"
	"github.com/acme/knative-promote/internal/httpx"
)

// TestServers asks each server once, and looks that they end.
func TestServers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []string
	s, err := servers.Start(servers.Config{
		Folder: t.TempDir(), Infra: os.DirFS("../../testdata/infra"), GitToken: "secret",
		App:    argotest.App{Name: "app", Path: "apps/product-import/overlays/production", DestinationNamespace: "production", AutoSync: true},
		Argo:   argotest.Config{Speed: 20},
		GitHub: &githubtest.Server{Repository: "acme/product-import"},
		Around: func(name string, next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked = append(asked, name)
				mu.Unlock()
				next.ServeHTTP(w, r)
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.AwaitLive(t.Context(), "product-import"); err != nil {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.AwaitLive(ended, "another"); err == nil || !strings.Contains(err.Error(), "waiting for another to be live: context canceled; Argo CD says Synced") {
		t.Errorf("waiting for what is not there: %v", err)
	}
	if _, err := gittest.Git(t.TempDir(), nil, "ls-remote", strings.Replace(s.Repository, "://", "://any:secret@", 1)); err != nil {
		t.Error(err)
	}
	ask := &http.Client{Transport: httpx.Default()}
	response, err := ask.Get(s.GitHub + "/")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	s.Close()
	if _, err := ask.Get(s.GitHub + "/"); err == nil {
		t.Error("GitHub answers after the end")
	}
	mu.Lock()
	defer mu.Unlock()
	if got := slices.Compact(asked); !slices.Equal(got, []string{"git", "github"}) {
		t.Errorf("the requests came to %v", got)
	}
}
