package gittest_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

func content() fstest.MapFS {
	return fstest.MapFS{
		"a/plain":       {Data: []byte("plain\n")},
		"a/run":         {Data: []byte("run\n"), Mode: 0o755},
		"a/link":        {Data: []byte("plain"), Mode: os.ModeSymlink},
		"odd \"name\\é": {Data: nil},
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	made := gittest.Repository{Branch: "trunk", Hooks: map[string]string{"pre-receive": "echo 'not today' >&2; exit 1"}}
	dir, err := made.Init(root, "team/infra.git", content())
	if err != nil {
		t.Fatal(err)
	}
	var paths atomic.Int32
	server := &gittest.Server{Root: root, Token: "secret", Around: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			paths.Add(1)
			next.ServeHTTP(w, r)
		})
	}}
	url, stop, err := server.Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if _, err := gittest.Git(root, nil, "ls-remote", url+"/team/infra.git"); err == nil {
		t.Error("the server is open without the token")
	}
	work := filepath.Join(root, "work")
	if _, err := gittest.Git(root, nil, "clone", "--quiet", strings.Replace(url, "://", "://any:secret@", 1)+"/team/infra.git", work); err != nil {
		t.Fatal(err)
	}
	if paths.Load() == 0 {
		t.Error("Around saw no request")
	}
	got, err := gittest.Git(dir, nil, "-c", "core.quotePath=false", "ls-tree", "-r", "--format=%(objectmode) %(path)", "trunk")
	if want := "100644 \"odd \\\"name\\\\é\"\n120000 a/link\n100644 a/plain\n100755 a/run"; err != nil || !sameLines(got, want) {
		t.Errorf("tree %s, %v, want %s", got, err, want)
	}
	_, err = gittest.Git(work, nil, "push", "--quiet", "origin", "HEAD:refs/heads/other")
	if err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("push: %v, want the hook's words", err)
	}
}

func sameLines(a, b string) bool {
	lines := map[string]int{}
	for line := range strings.SplitSeq(a, "\n") {
		lines[line]++
	}
	for line := range strings.SplitSeq(b, "\n") {
		lines[line]--
	}
	for _, n := range lines {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestCommit(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	dir, err := gittest.Repository{}.Init(root, "infra.git", content())
	if err != nil {
		t.Fatal(err)
	}
	if err := gittest.Commit(dir, "main", "Second", fstest.MapFS{"a/plain": {Data: []byte("new")}}); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"log --format=%s main":                 "Second\nStart the infra repository",
		"diff --name-status main^ main":        "M\ta/plain",
		"show main:a/plain":                    "new",
		"config uploadpack.allowFilter":        "true",
		"config uploadpack.allowAnySHA1InWant": "true",
		"rev-parse --is-bare-repository":       "true",
		"symbolic-ref HEAD":                    "refs/heads/main",
		"log -1 --format=%cn main":             "Infra Team",
	} {
		if got, err := gittest.Git(dir, nil, strings.Fields(args)...); err != nil || got != want {
			t.Errorf("git %s: %q, %v, want %q", args, got, err, want)
		}
	}
}
