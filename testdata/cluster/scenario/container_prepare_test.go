//go:build cluster

package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/testdata/cluster/container"
)

// prepareOnPull: the example workflow makes what a pull request changes of a template
// a candidate, so that its merge is not refused, and promotes what is merged.
func prepareOnPull(t *testing.T, a *shipped) {
	s, h := shippedSiteOf(t, "acme/infra", withSettings, keepSettings)
	s.promote("v2.0.0", "steps=100").exits(0)
	before := s.live().Spec.Template.Name
	h.AddPull(githubtest.Pull{Number: 12, State: "open"})
	refused := s.watchSyncs()
	text := a.workflow(s, "prepare.yml", append(inside(s)[2:], "10@5m,50@5m,100", "10@1s,50@1s,100", "probe: /healthz", "probe-connect: "+world.Ingress()+"\n          probe: /healthz")...)

	p := s.propose("./settings.env", "COLOUR=green\n")
	journal := a.run(s, h, container.Workflow{Text: text, Event: "pull_request", Payload: p.event(), Checkout: p.checkout})
	if !slices.Contains(journal.Jobs(), "prepare success") || slices.Contains(journal.Jobs(), "promote success") {
		t.Fatalf("jobs ended %q, want prepare to succeed and promote to be skipped", journal.Jobs())
	}
	if comment := h.comment(s, 12); !strings.Contains(comment, before) {
		t.Errorf("the comment does not say which revision keeps the traffic, %s:\n%s", before, comment)
	}
	p.merged([]string{"merge", "--squash"})
	s.refresh()
	s.eventually("the merge is live, and nobody gets it", func() bool {
		now := s.live()
		return now.Spec.Template.Name != before && now.IsReady() && share(now.Status.Traffic, before) == 100
	})

	merged := s.git("rev-parse", "main")
	journal = a.run(s, h, container.Workflow{Text: text, Event: "push", Payload: pushed(s.git("rev-parse", "main~"), merged), Checkout: s.cloned()})
	if want := []string{"prepare success", "promote success"}; !slices.Equal(journal.Jobs(), want) {
		t.Fatalf("jobs ended %q, want %q", journal.Jobs(), want)
	}
	s.settled("v2.0.0")
	if answer := s.ask(s.host()); answer.Revision == before {
		t.Errorf("revision %s still answers after the promotion", before)
	}
	if message := refused.refused(); message != "" {
		t.Errorf("a sync was refused: %s", message)
	}
}

// keepSettings keeps the ConfigMap of the revision that is live, as
// docs/configuration.md says.
func keepSettings(l *layout) {
	l.set("./kustomization.yaml", string(l.Files[l.Overlay+"/kustomization.yaml"].Data)+
		"generatorOptions: {annotations: {argocd.argoproj.io/sync-options: Prune=false, argocd.argoproj.io/compare-options: IgnoreExtraneous}}\n")
}

// cloned is what actions/checkout gives for a push to main.
func (s *site) cloned() (folder string) {
	s.Helper()
	folder = s.TempDir()
	_, err := gittest.Git(folder, nil, "clone", "--quiet", "--depth=1", "file://"+s.Dir, ".")
	s.must(err)
	return folder
}

// pushed is the event of a push to main.
func pushed(before, after string) map[string]any {
	event := push(after)
	event["before"], event["repository"] = before, map[string]any{"id": 1, "full_name": "acme/infra"}
	return event
}
