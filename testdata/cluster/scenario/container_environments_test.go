//go:build cluster

package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/testdata/cluster/container"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// environmentsOnPush: the example workflow that says a Service and an environment
// takes an image through dev, staging and production, each as the example of the
// pipeline file says, and production is rolled back.
func environmentsOnPush(t *testing.T, a *shipped) {
	s, h := shippedSite(t, func(l *layout) {
		withOverlay(l, "dev")
		l.set("knative-promote.yaml", pipelineFile(t))
	})
	environments := []*site{s.environment("dev"), s.staging(), s}
	for _, e := range environments {
		e.settled("v1.0.0")
	}
	folder, commit := s.checkout()
	text := a.workflow(s, "environments.yml",
		"product-import", s.Service,
		"'ghcr.io/acme/"+s.Service+":{0}'", "'"+s.Image+":{0}'",
		"argocd-token:", "argocd-ca: \"${{ vars.ARGOCD_CA }}\", argocd-token:")
	journal := a.run(s, h, container.Workflow{Text: text, Event: "push", Payload: push(commit), Checkout: folder})
	if want := []string{"promote success", "promote success", "promote success"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	for _, e := range environments {
		e.settled(commit)
	}
	s.begin("rollback", "reason=wrong prices").wait().exits(0)
	s.settled("v1.0.0")
	environments[1].settled(commit)
}

// pipelineFile is the project's example, with what runs on this machine in the
// place of what is out there, and shorter times.
func pipelineFile(t *testing.T) string {
	t.Helper()
	root, err := plane.Root(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(root, ".github/examples", "knative-promote.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, pair := range [][2]string{
		{"argocd-server: argocd.example.com", "argocd-server: " + world.ArgoCDServer()},
		{"probe: /healthz expect=200", "probe: /healthz expect=200\n  probe-connect: " + world.Ingress()},
		{"soak: 1h", "soak: 10s"}, {"50@1m,100", "50@1s,100"}, {"10@5m,50@5m,100", "10@5s,50@5s,100"},
	} {
		text = replaceOnce(t, text, pair[0], pair[1])
	}
	return text
}

// replaceOnce replaces what must be there.
func replaceOnce(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the example does not have %q", old)
	}
	return strings.Replace(text, old, new, 1)
}
