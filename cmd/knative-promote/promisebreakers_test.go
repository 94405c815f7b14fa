package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/argotest"
	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestPromiseBreakers makes commits as the program must not, and looks that the
// check after every script finds them. What a history may be is tested in
// promotetest.
func TestPromiseBreakers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		trailer    string // one more
		ready      []string
	}{
		{name: "good", ready: []string{"s-1", "s-2"}},
		{name: "not ready", want: "10 % go to s-2, which had not been ready", ready: []string{"s-1"}},
		{name: "secret", want: "the commits hold a secret", trailer: "Promotion-Reason: " + gitToken + "\n", ready: []string{"s-1", "s-2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := brokenWorld(t)
			message := "s: 10 %\n\nPromotion: id1\nPromotion-Service: s\nPromotion-Overlay: o\nPromotion-From: s-1\nPromotion-Step: 10\n" + test.trailer
			w.add(t, message, map[string]string{"o/knative-promote-s.yaml": plainService + "spec:\n  traffic:\n" +
				"    - {revisionName: s-1, percent: 90, latestRevision: false}\n    - {revisionName: s-2, percent: 10, latestRevision: false, tag: candidate}\n",
				"o/kustomization.yaml": "resources: [service.yaml]\npatches:\n  - path: knative-promote-s.yaml\n",
			}, test.ready)
			own, err := w.checkPromises()
			if own != 1 || test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%d own commits, got %v, want %q", own, err, test.want)
			}
		})
	}
}

// TestLostForeignCommit looks that a commit of somebody else is missed.
func TestLostForeignCommit(t *testing.T) {
	t.Parallel()
	w := brokenWorld(t)
	w.foreign = []string{"0123456789012345678901234567890123456789"}
	if _, err := w.checkPromises(); err == nil || !strings.Contains(err.Error(), "is not in the branch any more") {
		t.Errorf("got %v, want a lost commit", err)
	}
}

// TestForcedPush looks that the server refuses and notes what is forced.
func TestForcedPush(t *testing.T) {
	t.Parallel()
	w := brokenWorld(t)
	var err error
	if w.argo, err = argotest.Start(argotest.Config{}); err != nil {
		t.Fatal(err)
	}
	defer w.argo.Close()
	server := gittest.Server{Root: filepath.Dir(w.bare), Around: w.aroundGit}
	url, stop, err := server.Serve()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	clone := t.TempDir()
	for _, args := range [][]string{
		{"clone", "--quiet", url + "/infra.git", "."},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--amend", "-m", "Rewrite the history"},
	} {
		if _, err := gittest.Git(clone, nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := gittest.Git(clone, nil, "push", "--force", "origin", "main"); err == nil {
		t.Error("the server took a forced push")
	}
	if _, err := w.checkPromises(); err == nil || !strings.Contains(err.Error(), "not fast-forward") {
		t.Errorf("got %v, want a forced push", err)
	}
}

const plainService = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: s\n"

// brokenWorld is an infra repository with nothing around it.
func brokenWorld(t *testing.T) *world {
	t.Helper()
	bare, err := gittest.Repository{FastForward: true}.Init(t.TempDir(), "infra.git", mapFS(map[string]string{
		"o/service.yaml":       plainService + "spec: {template: {spec: {containers: [{image: a}]}}}\n",
		"o/kustomization.yaml": "resources: [service.yaml]\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return &world{unlike: unlike{service: "s", path: "o"}, dir: t.TempDir(), bare: bare, hub: &githubtest.Server{}, readyAt: map[string][]string{}, downAt: map[string][]string{}}
}

func (w *world) add(t *testing.T, message string, files map[string]string, ready []string) {
	t.Helper()
	if err := gittest.Commit(w.bare, "main", message, mapFS(files)); err != nil {
		t.Fatal(err)
	}
	tip, err := gittest.Git(w.bare, nil, "rev-parse", "main")
	if err != nil {
		t.Fatal(err)
	}
	w.readyAt[tip] = ready
}
