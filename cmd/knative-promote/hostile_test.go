package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// forkEvent is that of a pull request from another repository.
const forkEvent = `{"pull_request": {"number": 12, "base": {"repo": {"id": 1}}, "head": {"repo": {"id": 2}}}}`

// TestHostileDiff shows the program a fork's pull request with an overlay for
// everything that a kustomization can try: each is named with why it is not
// rendered, in bounded time and memory, no request leaves, no other program starts,
// and the checkout stays as it was.
func TestHostileDiff(t *testing.T) {
	outside := newOutside(t)
	w := worldOf(t)
	hostile := hostileOverlays(t, outside.host)
	checkout := w.fork(t, hostile)
	event, status := filepath.Join(w.dir, "event.json"), filepath.Join(w.dir, "status")
	if err := os.WriteFile(event, []byte(forkEvent), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.process(exec.Command("knative-promote-crashing", "diff"))
	p.command.Dir = checkout
	p.command.Env = slices.Concat(w.vars, p.files(), outside.environment(), []string{
		"HOME=" + w.dir, "STATUS_FILE=" + status,
		"GITHUB_WORKSPACE=" + checkout, "GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + event,
	})
	if err := w.start(p); err != nil {
		t.Fatal(err)
	}
	if !p.endsInTime() || p.exit() != "1" {
		t.Fatalf("it ended with %s:\n%s", p.exit(), p.out.String())
	}
	for _, overlay := range hostile.overlays {
		if want := "title=" + strings.ReplaceAll(overlay, "\n", " ") + " does not render"; !strings.Contains(p.out.String(), want) {
			t.Errorf("nothing says %q", want)
		}
	}
	outside.unused(t)
	if memory := peak(t, status); memory > maxResident {
		t.Errorf("it used %d MiB", memory>>20)
	}
	if changed, err := gittest.Git(checkout, nil, "status", "--porcelain"); err != nil || changed != "" {
		t.Errorf("the checkout is changed: %s %v", changed, err)
	}
}

// outside is what a hostile overlay may reach for: it counts requests to a
// server, which is the proxy to all others too, and programs that are started.
type outside struct {
	host     string
	requests atomic.Int32
	bin      string // the only folder with programs
	started  string // in which each program leaves a file
}

func newOutside(t *testing.T) *outside {
	t.Helper()
	o := &outside{bin: t.TempDir(), started: t.TempDir()}
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { o.requests.Add(1) }))
	t.Cleanup(server.Close)
	o.host = strings.TrimPrefix(server.URL, "http://")
	for _, name := range []string{"git", "helm", "docker", "podman", "ssh", "sh"} {
		script := "#!/bin/sh\n: > " + filepath.Join(o.started, name) + "\n"
		if err := os.WriteFile(filepath.Join(o.bin, name), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func (o *outside) environment() []string {
	return []string{"PATH=" + o.bin, "HTTP_PROXY=http://" + o.host, "HTTPS_PROXY=http://" + o.host}
}

// unused fails the test where anything of it was reached.
func (o *outside) unused(t *testing.T) {
	t.Helper()
	if n := o.requests.Load(); n > 0 {
		t.Errorf("%d requests left", n)
	}
	started, err := os.ReadDir(o.started)
	if err != nil || len(started) > 0 {
		t.Errorf("programs were started: %v %v", started, err)
	}
}

// A hostileTree is what the pull request adds.
type hostileTree struct {
	overlays []string
	files    map[string]string
	links    map[string]string
}

// hostileOverlays are those that the renderer is tested with, each in a folder
// of its own, and those that need a link or much text.
func hostileOverlays(t *testing.T, host string) hostileTree {
	t.Helper()
	h := hostileTree{files: map[string]string{}, links: map[string]string{}}
	tree, err := txtar.ParseFile("../../gitops/kustomize/testdata/tree.txtar")
	if err != nil {
		t.Fatal(err)
	}
	refused, err := txtar.ParseFile("../../gitops/kustomize/testdata/refused.txtar")
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, file, text string) {
		overlay := name + "/apps/shop/overlays/production"
		if !slices.Contains(h.overlays, overlay) {
			h.overlays = append(h.overlays, overlay)
			for _, f := range tree.Files {
				h.files[name+"/"+f.Name] = string(f.Data)
			}
		}
		h.files[overlay+"/"+file] = text
	}
	for _, f := range refused.Files {
		if name, file, _ := strings.Cut(f.Name, "/"); file != "want" {
			add(name, file, strings.ReplaceAll(string(f.Data), "SERVER", host))
		}
	}
	add("elsewhere", "kustomization.yaml", "resources: [\"https://raw.githubusercontent.com/acme/shop/main/service.yaml\"]\n")
	add("deep", "kustomization.yaml", "resources: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"\n")
	add("huge", "kustomization.yaml", "resources: [huge.yaml]\n")
	add("huge", "huge.yaml", strings.Repeat("#", 64<<20))
	add("around", "kustomization.yaml", "resources: [../production]\n")
	add("line\nbreak", "kustomization.yaml", "resources: [nowhere.yaml]\n")
	for name, to := range map[string]string{"link-away": "/etc/passwd", "link-up": "../../../../../..", "link-around": "link"} {
		add(name, "kustomization.yaml", "resources: [link]\n")
		h.links[name+"/apps/shop/overlays/production/link"] = to
	}
	return h
}

// fork is a checkout of the infra repository with what somebody adds to it.
func (w *world) fork(t *testing.T, h hostileTree) (checkout string) {
	t.Helper()
	checkout = filepath.Join(w.dir, "checkout")
	steps := [][]string{
		{"clone", "--quiet", w.bare, checkout},
		{"-C", checkout, "add", "--all"},
		{"-C", checkout, "-c", "user.name=mallory", "-c", "user.email=mallory@example.com", "commit", "--quiet", "-m", "Render this"},
	}
	for i, step := range steps {
		if _, err := gittest.Git(w.dir, nil, step...); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			h.write(t, checkout)
		}
	}
	return checkout
}

func (h hostileTree) write(t *testing.T, folder string) {
	t.Helper()
	for name, text := range h.files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range h.links {
		if err := os.Symlink(to, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
}
