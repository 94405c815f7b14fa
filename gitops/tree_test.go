package gitops_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// kinds are the servers that give out parts of a repository, or do not.
func kinds() map[string]gittest.Repository {
	return map[string]gittest.Repository{
		"partial":       {},
		"no filter":     {NoFilter: true},
		"no hash wants": {NoHashWants: true},
		"neither":       {NoFilter: true, NoHashWants: true},
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := infra()
			content["tools/here"] = &fstest.MapFile{Data: []byte("../apps/web"), Mode: fs.ModeSymlink}
			content["tools/up"] = &fstest.MapFile{Data: []byte("here/../web/overlays"), Mode: fs.ModeSymlink} // apps/web, not tools/web
			tip, err := serve(t, made, content, nil).open(t).Tip(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := fstest.TestFS(tip.Tree, "README.md", "apps/web/overlays/prod/p/a.txt", "tools/run.sh", "tools/latest"); err != nil {
				t.Error(err)
			}
			got, err := fs.ReadFile(tip.Tree, "tools/here/overlays/prod/k.yaml")
			if err != nil || string(got) != "images: []\n" {
				t.Errorf("through the link: %q, %v", got, err)
			}
			got, err = fs.ReadFile(tip.Tree, "tools/up/prod/k.yaml")
			if err != nil || string(got) != "images: []\n" {
				t.Errorf("up from where the link leads: %q, %v", got, err)
			}
			modes := map[string]fs.FileMode{"tools/run.sh": 0o755, "README.md": 0o644, "apps": fs.ModeDir | 0o755, "tools/here": fs.ModeSymlink | 0o777}
			for path, want := range modes {
				if info, err := fs.Lstat(tip.Tree, path); err != nil || info.Mode() != want {
					t.Errorf("%s: %v, %v, want mode %s", path, info, err, want)
				}
			}
		})
	}
}

func TestTreeErrors(t *testing.T) {
	t.Parallel()
	content := infra()
	for name, target := range map[string]string{"out": "../../etc/passwd", "abs": "/etc/passwd", "loop": "loop", "gone": "absent",
		"up": "here/../../../etc", "here": "../apps", "file": "../README.md/../README.md", "long": strings.Repeat("./", 2049) + "here"} {
		content["links/"+name] = &fstest.MapFile{Data: []byte(target), Mode: fs.ModeSymlink}
	}
	content["large/backup.sql"] = &fstest.MapFile{Data: bytes.Repeat([]byte("#"), 16<<20+1)}
	s := serve(t, gittest.Repository{}, content, nil)
	s.submodule(t, "vendor/lib")
	tip, err := s.open(t).Tip(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]string{
		"absent":           "open absent: file does not exist",
		"large/backup.sql": "read large/backup.sql: has 16777217 bytes; at most 16777216 are read",
		"README.md/x":      "open README.md/x: file does not exist",
		"../x":             "open ../x: invalid argument",
		"apps":             "read apps: is a folder",
		"links/out":        `open links/out: links/out is a symbolic link out of the repository, to "../../etc/passwd"`,
		"links/abs/x":      `open links/abs/x: links/abs is a symbolic link out of the repository, to "/etc/passwd"`,
		"links/up":         `open links/up: links/up is a symbolic link out of the repository, to "here/../../../etc"`,
		"links/file":       "open links/file: file does not exist",
		"links/long":       "open links/long: links/long is a symbolic link of 4102 bytes; at most 4096 are followed",
		"links/loop":       "open links/loop: too many levels of symbolic links",
		"links/gone":       "open links/gone: file does not exist",
		"vendor/lib":       "open vendor/lib: lib is a submodule: its content is in another repository",
		"vendor/lib/file":  "open vendor/lib/file: lib is a submodule: its content is in another repository",
	}
	for name, want := range tests {
		if _, err := fs.ReadFile(tip.Tree, name); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
	entries, err := fs.ReadDir(tip.Tree, "vendor")
	if err != nil || len(entries) != 1 || entries[0].Type() != fs.ModeIrregular {
		t.Errorf("vendor: %v, %v, want one irregular entry", entries, err)
	}
}

// submodule adds a link to a commit of another repository.
func (s server) submodule(t *testing.T, path string) {
	t.Helper()
	stream := fmt.Sprintf("commit refs/heads/main\ncommitter x <x@example.com> 1700000000 +0000\ndata 9\nSubmodule\nfrom refs/heads/main^0\nM 160000 %s %s\n",
		strings.Repeat("ab", 20), path)
	if _, err := gittest.Git(s.dir, strings.NewReader(stream), "fast-import", "--quiet"); err != nil {
		t.Fatal(err)
	}
}

// TestPublishKeepsTheRest checks by git's own listing that a commit changes
// nothing but its files, on every kind of server.
func TestPublishKeepsTheRest(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.submodule(t, "vendor/lib")
			s.oldMode(t, "README.md")
			before := s.git(t, "ls-tree", "-r", "main")
			r := s.open(t)
			publish(t, r, map[string][]byte{
				"tools/run.sh":                    []byte("#!/bin/sh\nexit 1\n"),
				"apps/new/deep/er/path/file.yaml": []byte("new\n"),
				"apps.txt":                        []byte("sorts between apps and apps/\n"),
				"apps/web/overlays/prod/p/a.txt":  nil,
				"apps/web/overlays/stage/k.yaml":  {},
			})
			if diff := cmp.Diff("A\tapps.txt\nA\tapps/new/deep/er/path/file.yaml\nD\tapps/web/overlays/prod/p/a.txt\nM\tapps/web/overlays/stage/k.yaml\nM\ttools/run.sh",
				s.git(t, "diff", "--name-status", "main^", "main")); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if got := s.git(t, "ls-tree", "main", "tools/run.sh", "apps.txt", "apps/web/overlays/prod/"); !strings.HasPrefix(got, "100644") || !strings.Contains(got, "100755") || strings.Contains(got, "prod/p") {
				t.Errorf("modes and folders:\n%s", got)
			}
			publish(t, r, map[string][]byte{
				"tools/run.sh":                    []byte("#!/bin/sh\n"),
				"apps/new/deep/er/path/file.yaml": nil,
				"apps.txt":                        nil,
				"apps/web/overlays/prod/p/a.txt":  []byte("a\n"),
				"apps/web/overlays/stage/k.yaml":  []byte("images: []\n"),
			})
			if diff := cmp.Diff(before, s.git(t, "ls-tree", "-r", "main")); diff != "" {
				t.Errorf("after undoing it (-want +got):\n%s", diff)
			}
			if raw := s.git(t, "cat-file", "tree", "main^{tree}"); !strings.Contains(raw, "100664 README.md") {
				t.Errorf("the mode of README.md is lost: %q", raw)
			}
			s.git(t, "fsck")
		})
	}
}

// oldMode gives a file at the top the mode that early versions of Git wrote,
// which takes an object that today's tools do not make.
func (s server) oldMode(t *testing.T, path string) {
	t.Helper()
	raw := strings.Replace(s.git(t, "cat-file", "tree", "main^{tree}"), "100644 "+path, "100664 "+path, 1)
	tree, err := gittest.Git(s.dir, strings.NewReader(raw), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	if err != nil {
		t.Fatal(err)
	}
	commit := s.git(t, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit-tree", "-p", "main", "-m", "Old mode", tree)
	s.git(t, "update-ref", "refs/heads/main", commit)
}

func publish(t *testing.T, r *gitops.Repo, files map[string][]byte) gitops.Commit {
	t.Helper()
	c, err := r.Publish(t.Context(), gitops.Change{
		Subject: "Change files",
		Edit:    func(gitops.Snapshot) (map[string][]byte, error) { return files, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPublishBadPaths(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.submodule(t, "vendor/lib")
	at := fmt.Sprintf("editing commit %.12s: ", s.git(t, "rev-parse", "main"))
	const inside = ": expected a path inside the repository, such as apps/web/kustomization.yaml"
	tests := map[string]string{
		"../x":         at + `path "../x"` + inside,
		"/etc/passwd":  at + `path "/etc/passwd"` + inside,
		".":            at + `path "."` + inside,
		"a\nb":         at + `path "a b"` + inside,
		"a/.GIT/hooks": at + `path "a/.GIT/hooks": .git is not a name that Git takes`,
		"apps":         at + `path "apps": is a folder, expected a file`,
		"README.md/x":  at + `path "README.md": is a file, expected a folder`,
		"tools/latest": at + `path "tools/latest": is a symbolic link, expected a file`,
		"vendor/lib/x": at + `path "vendor/lib": is a submodule, expected a folder`,
	}
	for path, want := range tests {
		if _, err := s.open(t).Publish(t.Context(), write(path, "x")); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", path, err, want)
		}
	}
}

// TestFetchesLittle bounds what a change in one of many services brings over
// the wire: 600 services of three folders are not looked into.
func TestFetchesLittle(t *testing.T) {
	t.Parallel()
	content := infra()
	for i := range 600 {
		for _, folder := range []string{"base", "overlays/a", "overlays/b"} {
			content[fmt.Sprintf("apps/service-%d/%s/file", i, folder)] = &fstest.MapFile{Data: fmt.Appendf(nil, "%d %s", i, folder)}
		}
	}
	var received, requests atomic.Int64
	s := serve(t, gittest.Repository{}, content, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			next.ServeHTTP(counter{w, &received}, r)
		})
	})
	change := write("apps/web/overlays/prod/k.yaml", "new")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		for _, path := range []string{"apps/web/overlays/prod/k.yaml", "apps/web/overlays/prod/p/a.txt", "apps/web/base/service.yaml"} {
			if _, err := fs.ReadFile(tip.Tree, path); err != nil {
				return nil, err
			}
		}
		return edit(tip)
	}
	if _, err := s.open(t).Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	// The folder apps is 600 lines, whose hashes of 20 bytes do not compress.
	if got := received.Load(); got > 20<<10 {
		t.Errorf("received %d bytes in %d requests, want at most 20 KiB", got, requests.Load())
	}
	if got := requests.Load(); got > 13 {
		t.Errorf("%d requests, want at most 13", got)
	}
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return c.ResponseWriter.Write(p)
}

// TestReadsChangedTip shows that what is in memory is not taken for what is there now.
func TestReadsChangedTip(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			r := s.open(t)
			for _, want := range []string{"images: []\n", "one", "two"} {
				if want != "images: []\n" {
					s.rival(t, "apps/web/overlays/prod/k.yaml", want)
				}
				tip, err := r.Tip(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				got, err := fs.ReadFile(tip.Tree, "apps/web/overlays/prod/k.yaml")
				if err != nil || !bytes.Equal(got, []byte(want)) {
					t.Errorf("read %q, %v, want %q", got, err, want)
				}
			}
		})
	}
}
