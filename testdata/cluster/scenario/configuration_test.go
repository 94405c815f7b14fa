//go:build cluster

package scenario

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestConfiguration goes the way of docs/configuration.md: a setting is changed
// in Git, Knative refuses it under the pinned name, and a promotion without an
// image brings it. The old revision keeps the ConfigMap that it reads.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	s := newSite(t, withSettings, func(l *layout) {
		l.set("./kustomization.yaml", string(l.Files[l.Overlay+"/kustomization.yaml"].Data)+
			"generatorOptions: {annotations: {argocd.argoproj.io/sync-options: Prune=false, argocd.argoproj.io/compare-options: IgnoreExtraneous}}\n")
	})
	s.promote("v2.0.0", "steps=100").exits(0)
	before, old := s.live().Spec.Template.Name, s.settings()
	s.push("Paint it green", map[string]string{"./settings.env": "COLOUR=green\n"})
	s.refresh()
	s.eventually("Knative has refused the change", func() bool {
		message, _, _ := unstructured.NestedString(s.application().Object, "status", "operationState", "message")
		return strings.Contains(message, "without a name change")
	})
	if a := s.ask(s.host()); a.Revision != before {
		t.Errorf("revision %s answers before the promotion, want %s", a.Revision, before)
	}
	s.begin("promote", "image=unchanged", "steps=50,100").wait().exits(0)
	s.settled("v2.0.0")
	live := s.live().Spec.Template.Name
	if a := s.ask(s.host()); a.Revision != live || live == before {
		t.Errorf("revision %s answers, of the template %s; before it was %s", a.Revision, live, before)
	}
	if s.settings() == old || !s.has(old) {
		t.Errorf("the Service reads %s, and before it read %s, which must still be there", s.settings(), old)
	}
}
