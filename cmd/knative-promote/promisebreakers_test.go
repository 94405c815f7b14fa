package main

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/promote/github/githubtest"
)

const (
	goodTraffic = "    - {revisionName: s-1, percent: 90, latestRevision: false}\n    - {revisionName: s-2, percent: 10, latestRevision: false, tag: candidate}\n"
	goodImages  = "# ours\nimages:\n  - name: a\n    newTag: v2\npatches:\n  - path: knative-promote-s.yaml\nnamespace: x\n"
)

// TestPromiseBreakers makes commits as the program must not, and looks that the
// check after every script finds them.
func TestPromiseBreakers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, want string
		trailers   string // more of them
		files      map[string]string
		ready      []string
		twice      bool // the same step again
		again      bool // a later step that sets the image again
	}{
		{name: "good", ready: []string{"s-1", "s-2"}},
		{name: "not ready", want: "10 % go to s-2, which had not been ready", ready: []string{"s-1"}},
		{name: "sum", want: "the traffic sums to 95", ready: []string{"s-1", "s-2"},
			files: map[string]string{"o/knative-promote-s.yaml": traffics(strings.Replace(goodTraffic, "90", "85", 1))}},
		{name: "share", want: "0.5 % is no whole percentage", ready: []string{"s-1", "s-2"},
			files: map[string]string{"o/knative-promote-s.yaml": traffics(strings.Replace(goodTraffic, "90", "0.5", 1))}},
		{name: "latest", want: "100 % go to a revision without a name",
			files: map[string]string{"o/knative-promote-s.yaml": traffics("    - {latestRevision: true, percent: 100}\n")}},
		{name: "outside", want: "changes other/file outside the overlay", ready: []string{"s-1", "s-2"}, files: map[string]string{"other/file": "x"}},
		{name: "other file", want: "changes o/service.yaml", ready: []string{"s-1", "s-2"},
			files: map[string]string{"o/service.yaml": "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: s\n# more\n"}},
		{name: "other key", want: "outside images and patches", ready: []string{"s-1", "s-2"},
			files: map[string]string{"o/kustomization.yaml": strings.Replace(goodImages, "namespace: x", "namespace: y", 1) + "resources: [service.yaml]\n"}},
		{name: "comment", want: "outside images and patches", ready: []string{"s-1", "s-2"},
			files: map[string]string{"o/kustomization.yaml": strings.Replace(goodImages, "# ours\n", "", 1) + "resources: [service.yaml]\n"}},
		{name: "secret", want: "the commits hold a secret", trailers: "Promotion-Reason: " + gitToken + "\n", ready: []string{"s-1", "s-2"}},
		{name: "twice", want: "are both step id1 10", ready: []string{"s-1", "s-2"}, twice: true},
		{name: "image", want: "changes o/kustomization.yaml again", ready: []string{"s-1", "s-2"}, again: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := brokenWorld(t)
			files := map[string]string{"o/knative-promote-s.yaml": traffics(goodTraffic), "o/kustomization.yaml": goodImages + "resources: [service.yaml]\n"}
			for name, text := range test.files {
				files[name] = text
			}
			w.add(t, "s: 10 %\n\nPromotion: id1\nPromotion-From: s-1\nPromotion-Step: 10\n"+test.trailers, files, test.ready)
			if test.twice {
				w.add(t, "s: 10 %\n\nPromotion: id1\nPromotion-From: s-1\nPromotion-Step: 10\n", nil, test.ready)
			}
			if test.again {
				w.add(t, "s: 50 %\n\nPromotion: id1\nPromotion-From: s-1\nPromotion-Step: 50\n",
					map[string]string{"o/kustomization.yaml": strings.Replace(goodImages, "v2", "v3", 1) + "resources: [service.yaml]\n"}, test.ready)
			}
			_, err := w.checkPromises()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("got %v, want %q", err, test.want)
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
	clone := t.TempDir()
	for _, args := range [][]string{
		{"clone", "--quiet", w.bare, "."},
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

func traffics(targets string) string {
	return "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: s\nspec:\n  traffic:\n" + targets
}

// brokenWorld is an infra repository with nothing around it.
func brokenWorld(t *testing.T) *world {
	t.Helper()
	bare, err := gittest.Repository{Hooks: noForce()}.Init(t.TempDir(), "infra.git", mapFS(map[string]string{
		"o/service.yaml":       "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: s\n",
		"o/kustomization.yaml": "# ours\nimages:\n  - name: a\n    newTag: v1\nnamespace: x\nresources: [service.yaml]\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	return &world{setting: setting{service: "s", path: "o"}, dir: t.TempDir(), bare: bare, hub: &githubtest.Server{}, readyAt: map[string][]string{}}
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
