package kustomize_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops/kustomize"
)

// network counts what reaches a loopback server or starts a program.
type network struct {
	host     string
	requests atomic.Int64
	programs string // a folder in which each program started leaves a file
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{programs: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { n.requests.Add(1) }))
	t.Cleanup(server.Close)
	n.host = strings.TrimPrefix(server.URL, "http://")
	bin := t.TempDir()
	for _, name := range []string{"git", "helm", "docker", "ssh"} {
		script := "#!/bin/sh\n: > " + filepath.Join(n.programs, name) + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	return n
}

// used is how often the network was reached and programs were started.
func (n *network) used(t *testing.T) int {
	t.Helper()
	started, err := os.ReadDir(n.programs)
	if err != nil {
		t.Fatal(err)
	}
	return int(n.requests.Load()) + len(started)
}

func TestRenderRefuses(t *testing.T) {
	if _, err := command(); err != nil { // while PATH is as it was
		t.Fatal(err)
	}
	n := newNetwork(t)
	cases := archive(t, "testdata/refused.txtar")
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		name, ok := strings.CutSuffix(name, "/want")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			files := archive(t, "testdata/tree.txtar")
			for file, content := range cases {
				if rest, ok := strings.CutPrefix(file, name+"/"); ok {
					text := strings.ReplaceAll(string(content.Data), "SERVER", n.host)
					files[path.Join(overlay, rest)] = &fstest.MapFile{Data: []byte(text), Mode: 0o644}
				}
			}
			_, err := kustomize.Render(t.Context(), files, overlay)
			if err == nil {
				t.Fatal("rendered")
			}
			want := strings.TrimSpace(string(cases[name+"/want"].Data))
			got := strings.ReplaceAll(err.Error(), n.host, "SERVER")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
	if used := n.used(t); used != 0 {
		t.Errorf("the network was used %d times", used)
	}
	reachesNetwork(t, n)
}

// reachesNetwork shows that the counters count: the kustomize command fetches.
func reachesNetwork(t *testing.T, n *network) {
	t.Helper()
	for _, entry := range []string{"http://" + n.host + "/service.yaml", "ssh://git@127.0.0.1/org/repo"} {
		before := n.used(t)
		dir := onDisk(t, tree(t, []byte("resources: ['"+entry+"']\n")))
		_, err := run(t, dir, "build", ".")
		if n.used(t) == before {
			t.Errorf("%s: the kustomize command did not use the network: %v", entry, err)
		}
	}
}

func TestRenderLinks(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.CopyFS(outside, tree(t, []byte("resources: [service.yaml]\n"))); err != nil {
		t.Fatal(err)
	}
	secret, long := filepath.Join(outside, overlay), strings.Repeat("l", 255)
	for _, c := range []struct {
		name, resource, link, to, want string
	}{
		{"file inside", "link.yaml", "link.yaml", "service.yaml", ""},
		{"folder inside", "link", "link", "../../base", ""},
		{"chain inside", "link", "link", "patches/../../../base", ""},
		{"absolute file", "link.yaml", "link.yaml", secret + "/service.yaml", "is a symbolic link out of the repository"},
		{"absolute folder", "link", "link", secret, "is a symbolic link out of the repository"},
		{"relative folder", "link", "link", "../../../../../outside", "is a symbolic link out of the repository"},
		{"relative, out and back", "link", "link", "../../../../../repository/apps/shop/base", "is a symbolic link out of the repository"},
		{"cycle", "link", "link", "link", "too many levels of symbolic links"},
		{"folder on the way", "link/overlays/production", "link", "../../../../..", "is a symbolic link out of the repository"},
		{"dangling", "link.yaml", "link.yaml", "missing.yaml", "no such file"},
		{"empty components", "link", "link", ".//..//../base", ""},
		{"longer than Linux opens", strings.Repeat(long+"/", 17) + "service.yaml", long, ".", "production/kustomization.yaml: resources:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "repository")
			if err := os.CopyFS(root, tree(t, []byte("resources: ["+c.resource+"]\n"))); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(c.to, filepath.Join(root, overlay, c.link)); err != nil {
				t.Fatal(err)
			}
			_, err := kustomize.Render(t.Context(), os.DirFS(root), overlay)
			switch {
			case c.want == "" && err != nil:
				t.Fatal(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Fatalf("got %v, want %q", err, c.want)
			case err != nil && strings.Contains(err.Error(), root):
				t.Errorf("the error names the host's path: %v", err)
			}
		})
	}
}

func TestRenderInvalidFolder(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/apps", "../apps", "apps/../..", "/repository/" + overlay} {
		_, err := kustomize.Render(t.Context(), tree(t, nil), dir)
		want := "rendering " + dir + ": expected the path of a folder in the repository, with no leading slash and no step up"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// blocked is a tree whose files cannot be looked up until released is closed.
type blocked struct {
	fstest.MapFS
	released chan struct{}
}

func (b blocked) Lstat(name string) (fs.FileInfo, error) {
	<-b.released
	return b.MapFS.Lstat(name)
}

func TestRenderEnds(t *testing.T) {
	files := blocked{tree(t, []byte("resources: [service.yaml]\n")), make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := kustomize.Render(ctx, files, overlay)
		first <- err
	}()
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := kustomize.Render(t.Context(), files.MapFS, overlay); err != nil {
		t.Errorf("while another cannot be read: %v", err)
	}
	close(files.released)
	if _, err := kustomize.Render(t.Context(), files, overlay); err != nil {
		t.Errorf("after the end of the first: %v", err)
	}
}

func TestRenderWaits(t *testing.T) {
	files := blocked{tree(t, []byte("resources: [service.yaml]\n# not remembered\n")), make(chan struct{})}
	begun := announced{blocked: files, looking: make(chan struct{}), looks: new(atomic.Int32)}
	first := make(chan error)
	go func() {
		_, err := kustomize.Render(t.Context(), begun, overlay)
		first <- err
	}()
	<-begun.looking
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := kustomize.Render(ctx, files.MapFS, overlay)
	want := "rendering " + overlay + ": not ready in time: context canceled"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	close(files.released)
	if err := <-first; err != nil {
		t.Error(err)
	}
}

// announced is a tree that can be read once. It tells when the Service is looked up
// again, by kustomize.
type announced struct {
	blocked
	looking chan struct{}
	looks   *atomic.Int32
}

func (a announced) Lstat(name string) (fs.FileInfo, error) {
	if path.Base(name) == "service.yaml" && a.looks.Add(1) == 2 {
		close(a.looking)
		return a.blocked.Lstat(name)
	}
	return a.MapFS.Lstat(name)
}
