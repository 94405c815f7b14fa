package main

import (
	"bytes"
	"net/http"
	"os"
	"path"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/consoletest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/servers"
)

// requests counts the requests to a server, by the last part of their path.
type requests struct {
	mu   sync.Mutex
	made []string
}

func (r *requests) around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		name := path.Base(in.URL.Path)
		if service := in.URL.Query().Get("service"); service != "" {
			name = service
		}
		r.mu.Lock()
		r.made = append(r.made, name)
		r.mu.Unlock()
		next.ServeHTTP(out, in)
	})
}

// take returns what was asked since the last time.
func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	made := r.made
	r.made = nil
	slices.Sort(made)
	return made
}

// A bench is a git server and an Argo CD whose requests are counted.
type bench struct {
	git, argo requests
	env       []string
}

const benchOverlay = "apps/product-import/overlays/production"

func newBench(t *testing.T) *bench {
	t.Helper()
	b := new(bench)
	started, err := servers.Start(servers.Config{
		Folder: t.TempDir(), Infra: os.DirFS(infraFolder),
		App:    argotest.App{Name: "the-app", Path: benchOverlay, DestinationNamespace: namespace, AutoSync: true},
		Argo:   argotest.Config{Token: argoToken, Speed: 20},
		GitHub: &githubtest.Server{},
		Around: b.around,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(started.Close)
	if err := started.AwaitLive(t.Context(), "product-import"); err != nil {
		t.Fatal(err)
	}
	b.env = []string{
		"INPUT_REPOSITORY=" + started.Repository, "INPUT_PATH=" + benchOverlay, "INPUT_APPLICATION=the-app", "INPUT_ARGOCD_SERVER=" + started.Argo.Addr(),
		"INPUT_ARGOCD_TOKEN=" + argoToken, "INPUT_ARGOCD_CA=" + string(started.Argo.CA()), "INPUT_DRY_RUN=true",
	}
	return b
}

// around is a server whose requests are counted.
func (b *bench) around(name string, next http.Handler) http.Handler {
	switch name {
	case "git":
		return b.git.around(next)
	case "argocd":
		return b.argo.around(next)
	}
	return next
}

// asked runs the program and returns what it asked of Argo CD and of git.
func (b *bench) asked(t *testing.T, want int, args ...string) (argo, git []string) {
	t.Helper()
	var out bytes.Buffer
	b.argo.take()
	b.git.take()
	if code := run(t.Context(), args, consoletest.Environment(b.env...), &out, &out); code != want {
		t.Fatalf("%v: code %d, want %d\n%s", args, code, want, out.String())
	}
	return b.argo.take(), b.git.take()
}

// TestPreflightCosts counts the requests of a dry run with the preflight and
// without. A rollback has none in any case.
func TestPreflightCosts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	withoutArgo, withoutGit := b.asked(t, exit.OK, "promote", "--image", "unchanged", "--preflight", "off")
	withArgo, withGit := b.asked(t, exit.OK, "promote", "--image", "unchanged")
	more := []string{"CanI", "Get", "Get", "GetApplicationSyncWindows", "GetGlobalProjects", "GetManifests", "GetResource", "List"}
	if diff := cmp.Diff(more, beyond(withArgo, withoutArgo)); diff != "" {
		t.Errorf("asked of Argo CD for the preflight (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"git-receive-pack", "git-upload-pack"}, beyond(withGit, withoutGit)); diff != "" {
		t.Errorf("asked of git for the preflight (-want +got):\n%s", diff)
	}
	backArgo, backGit := b.asked(t, exit.Input, "rollback") // there is nothing to roll back to
	if all := slices.Concat(backArgo, backGit); slices.Contains(all, "CanI") || slices.Contains(all, "git-receive-pack") {
		t.Errorf("a rollback asked for %v", all)
	}
	t.Logf("%d requests without the preflight, %d more with it", len(withoutArgo)+len(withoutGit), len(more)+2)
}

// beyond is what of a sorted list is not in another.
func beyond(all, known []string) []string {
	var rest []string
	for _, name := range all {
		if i, found := slices.BinarySearch(known, name); found {
			known = slices.Delete(slices.Clone(known), i, i+1)
		} else {
			rest = append(rest, name)
		}
	}
	return rest
}
