//go:build cluster

package forge_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/forge"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

func start(t *testing.T, o forge.Options) *forge.Forge {
	t.Helper()
	f, err := forge.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	return f
}

// TestStartAgain stops a Gitea and starts it again: accounts, tokens and
// repositories are there as before.
func TestStartAgain(t *testing.T) {
	t.Parallel()
	o, err := plane.Gitea(t.Context(), plane.Options{Progress: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	o.Dir = filepath.Join(t.TempDir(), "gitea")
	f := start(t, o)
	if err := f.User(t.Context(), "octocat"); err != nil {
		t.Fatal(err)
	}
	token, err := f.Token(t.Context(), "octocat", "write:repository")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Repository(t.Context(), "octocat", "Infra", fstest.MapFS{"apps/web/file": {Data: []byte("content\n")}})
	if err != nil {
		t.Fatal(err)
	}
	f.Stop()
	clone := func(f *forge.Forge) (string, error) {
		url := strings.Replace(f.URL, "://", "://octocat:"+token+"@", 1) + "/" + r.FullName() + ".git"
		return gittest.Git(t.TempDir(), nil, "clone", "--quiet", url, ".")
	}
	if _, err := clone(f); err == nil {
		t.Fatal("it answers although it was stopped")
	}
	if _, err := clone(start(t, o)); err != nil {
		t.Error(err)
	}
	if content, err := gittest.Git(r.Folder(), nil, "show", "main:apps/web/file"); content != "content" || err != nil {
		t.Errorf("the file is %q, %v", content, err)
	}
}
