//go:build cluster

package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/testdata/cluster/container"
	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// environmentsOnPush: the example workflow that says a Service and an environment
// takes an image through dev, staging and production, each as the example of the
// pipeline file says: a person reviews what goes to production. Then that is rolled
// back.
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
	s.reviewed = true
	h.Approvals = []githubtest.Approval{{User: "alice", Environment: "production", State: "approved"}}
	stop := h.reviewer(s)
	text := a.workflow(s, "environments.yml",
		"product-import", s.Service,
		"'ghcr.io/acme/"+s.Service+":{0}'", "'"+s.Image+":{0}'",
		"argocd-token:", "argocd-ca: \"${{ vars.ARGOCD_CA }}\", argocd-token:")
	journal := a.run(s, h, container.Workflow{Text: text, Event: "push", Payload: push(commit), Checkout: folder})
	stop()
	if want := []string{"promote success", "promote success", "promote success"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	for _, e := range environments {
		e.settled(commit)
	}
	s.reviewedOnce(h)
	s.begin("rollback", "reason=wrong prices", "timeout=3h", "GITHUB_SERVER_URL="+h.url, "GITHUB_API_URL="+h.url+"/api/v3").wait().exits(0)
	if n := len(h.Infra.Pulls()); n != 1 {
		t.Errorf("%d pull requests after the rollback, which needs none, want the one from before", n)
	}
	s.settled("v1.0.0")
	environments[1].settled(commit)
}

// reviewer is a person who merges every pull request of the infra repository once,
// by the button, until the returned function is called.
func (h *hub) reviewer(s *site) (stop func()) {
	h.Infra.Repository, h.Infra.Token, h.Infra.Folder = "acme/infra", gitPassword, s.Dir
	h.Infra.Wants(githubtest.Review{Message: "Merge pull request"})
	merged := 0
	return s.person(func() error {
		for _, p := range h.Infra.Pulls()[merged:] {
			merged++
			if err := h.Infra.Merge(p.Number); err != nil {
				return err
			}
		}
		return nil
	})
}

// reviewedOnce fails the scenario unless the one pull request brought the candidate
// of production, without any traffic.
func (s *site) reviewedOnce(h *hub) {
	s.Helper()
	pulls := h.Infra.Pulls()
	if len(pulls) != 1 || pulls[0].Merge == "" {
		s.Fatalf("the pull requests %+v, want one that is merged", pulls)
	}
	if traffic := s.atTraffic(pulls[0].Merge); !slices.ContainsFunc(traffic, isCandidateAt(0)) {
		s.Errorf("what was merged sets the traffic %+v, want a candidate without any", traffic)
	}
	if after := s.git("rev-list", "--count", pulls[0].Merge+"..main", "--", s.Overlay); after == "0" {
		s.Error("no step came after the merge")
	}
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
