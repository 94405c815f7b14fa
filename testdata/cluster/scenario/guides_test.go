//go:build cluster

package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
)

// TestGuides takes Applications as public guides write them, for which no
// promotion begins, and does what the findings say and nothing else. A promotion in
// steps and a rollback must work then.
func TestGuides(t *testing.T) {
	t.Parallel()
	four := []string{
		"/status", "/spec/traffic", "/metadata/annotations/serving.knative.dev~1creator", "/metadata/annotations/serving.knative.dev~1lastModifier",
	}
	bare := odd("        ports: [{containerPort: 8000, protocol: TCP}]\n")
	for name, layout := range map[string]func(*layout){
		"respecting": func(l *layout) {
			bare(l)
			l.ignore(four...)
			l.option("ServerSideApply=true")
			l.option("RespectIgnoreDifferences=true")
		},
		"respecting all but the traffic": func(l *layout) {
			bare(l)
			l.ignore(four[0], four[2], four[3])
			l.option("ServerSideApply=true")
			l.option("RespectIgnoreDifferences=true")
			l.annotate("argocd.argoproj.io/compare-options", "ServerSideDiff=true")
		},
		"server-side": func(l *layout) {
			bare(l)
			l.option("ServerSideApply=true")
		},
		"client-side": func(l *layout) {
			bare(l)
			l.ignore(four...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := prepareNamed(t, nameOf(t.Name()), layout)
			_, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Create(t.Context(), s.App, metav1.CreateOptions{})
			s.must(err)
			s.eventually("the Service answers", func() bool { return s.ask(s.host()).tag() == "v1.0.0" })
			s.touch()
			s.promoteAsCheckSays("v2.0.0")
			s.settled("v2.0.0")
			s.begin("rollback").wait().exits(0)
			s.settled("v1.1.0")
			s.checkPromises()
		})
	}
}

// touch is another image by somebody's commit, the second sync.
func (s *site) touch() {
	s.Helper()
	commit := s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"), "v1.0.0", "v1.1.0")})
	s.refresh()
	s.eventually("Argo CD has synced the commit, or cannot compare", func() bool {
		app := s.application().Object
		compared, _, _ := unstructured.NestedString(app, "status", "sync", "revision")
		status, _, _ := unstructured.NestedString(app, "status", "sync", "status")
		synced, _, _ := unstructured.NestedString(app, "status", "operationState", "syncResult", "revision")
		phase, _, _ := unstructured.NestedString(app, "status", "operationState", "phase")
		return compared == commit && (status == "Unknown" || synced == commit && phase == "Succeeded")
	})
	s.refresh()
}

// promoteAsCheckSays promotes, and does what the preflight says until it stops
// nothing any more.
func (s *site) promoteAsCheckSays(tag string) {
	s.Helper()
	var done []string
	for r := s.promote(tag, "steps=10,100"); r.Code != 0; r = s.promote(tag, "steps=10,100") {
		r.exits(13)
		found := s.errors()
		if len(found) == 0 {
			continue // Argo CD has compared once more
		}
		first := found[0] // the others may be gone with it
		if slices.Contains(done, first.Rule) {
			s.Fatalf("%s is found again after %q: %s", first.Rule, done, first.Problem)
		}
		s.paste(first.Fix)
		done = append(done, first.Rule)
		s.refresh()
		s.eventually(first.Rule+" is found no more, and what Argo CD syncs with that is Ready", func() bool {
			return !slices.ContainsFunc(s.errors(), func(f event.Finding) bool { return f.Rule == first.Rule }) && s.live().IsReady()
		})
	}
	s.Logf("done before: %q", done)
}

// errors are those that check finds now.
func (s *site) errors() []event.Finding {
	s.Helper()
	file := filepath.Join(s.TempDir(), "findings.json")
	s.begin("check", "image="+s.Image+":v2.0.0", "format=json", "output="+file, "fail-on=never").wait().exits(0)
	text, err := os.ReadFile(file)
	s.must(err)
	var report check.Report
	s.must(json.Unmarshal(text, &report))
	return slices.DeleteFunc(report.Findings, func(f event.Finding) bool { return f.Severity != event.SeverityError })
}
