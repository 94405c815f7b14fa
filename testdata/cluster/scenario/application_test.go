//go:build cluster

package scenario

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// However an Application is set up, a good image is promoted and a broken one
// is rolled back.
func TestApplications(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*layout){
		"self-heal off":               func(l *layout) { l.policy("automated", map[string]any{"prune": true}) },
		"prune off":                   func(l *layout) { l.policy("automated", map[string]any{"selfHeal": true}) },
		"generate paths":              func(l *layout) { l.annotate("argocd.argoproj.io/manifest-generate-paths", ".;../../base") },
		"server-side apply and diff":  serverSide,
		"replace nothing out of sync": func(l *layout) { l.option("ApplyOutOfSyncOnly=true") },
		"two sources":                 twoSources,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, change)
			s.promote("v2.0.0", "steps=100").exits(0)
			s.settled("v2.0.0")
			good := s.git("rev-parse", "main")
			s.promote("v3.0.0-http500", "steps=100").exits(8)
			s.restored(good, "v2.0.0")
		})
	}
}

// serverSide has Argo CD apply and compare on the server.
func serverSide(l *layout) {
	l.option("ServerSideApply=true")
	l.annotate("argocd.argoproj.io/compare-options", "ServerSideDiff=true")
}

// twoSources adds a second source with a ConfigMap to the Application.
func twoSources(l *layout) {
	l.set("extra/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: extra}\n")
	first, _, _ := unstructured.NestedMap(l.App.Object, "spec", "source")
	second := map[string]any{"targetRevision": "main", "path": "extra"}
	unstructured.RemoveNestedField(l.App.Object, "spec", "source")
	unstructured.SetNestedSlice(l.App.Object, []any{first, second}, "spec", "sources")
}

// Where nobody syncs by itself, the promotion does.
func TestAutoSyncOff(t *testing.T) {
	t.Parallel()
	s := prepare(t, func(l *layout) {})
	s.must(kube.Deploy(s.Context(), s.App))
	t.Cleanup(s.checkPromises)
	s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.settled("v2.0.0")

	s.promote("v3.0.0", "ARGOCD_AUTH_TOKEN="+world.Tokens["reader"]).exits(13).says("sync")
	s.settled("v2.0.0")
}

func TestReaderTokenSuffices(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100", "ARGOCD_AUTH_TOKEN="+world.Tokens["reader"]).exits(0)
	s.settled("v2.0.0")
}

func TestApplicationInAnotherNamespace(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(l *layout) {
		l.App.SetNamespace("team-" + l.Service)
		if err := kube.Namespace(t.Context(), "team-"+l.Service); err != nil {
			t.Fatal(err)
		}
	})
	s.promote("v2.0.0", "steps=100").exits(0)
	s.settled("v2.0.0")
}

// A closed sync window is said before anything is pushed, with the time when
// it opens.
func TestSyncWindowClosed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.must(kube.In("argocd").Apply(s.Context(), fmt.Appendf(nil, `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: %[1]s}
spec:
  sourceRepos: ["*"]
  destinations: [{namespace: "*", server: "*"}]
  clusterResourceWhitelist: [{group: "*", kind: "*"}]
  syncWindows: [{kind: deny, schedule: "* * * * *", duration: 24h, applications: ["*"], manualSync: false}]
`, s.Service)))
	s.patchApplication(fmt.Sprintf(`[{"op": "replace", "path": "/spec/project", "value": %q}]`, s.Service))
	s.promote("v2.0.0").exits(13).says("sync window")
	if n := len(s.commits()); n != 0 {
		t.Errorf("%d commits were pushed: %q", n, s.commits())
	}
	s.settled("v1.0.0")
}

// A sync that takes its time, here for a hook, is waited for.
func TestOperationRunning(t *testing.T) {
	t.Parallel()
	s := newSite(t, hook(t, "PreSync"), func(l *layout) { go endJobs(t.Context(), l.Service, endOf) })
	s.promote("v2.0.0", "steps=100").exits(0)
	s.settled("v2.0.0")
}

// Argo CD retries a commit that Knative's webhook refuses. The promotion that
// follows does not wait behind it.
func TestStuckOperation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.sticks()
	s.finds("operation")
	s.promote("v3.0.0", "steps=100").exits(0)
	s.settled("v3.0.0")
}

// sticks has Argo CD retry a commit that Knative's webhook refuses.
func (s *site) sticks() {
	s.Helper()
	s.promote("v2.0.0", "steps=100").exits(0)
	file := baseOf(s.Service)
	s.push("Use less memory", map[string]string{file: replaced(s.T, s.read(file), "memory: 512Mi", "memory: 128Mi")})
	s.refresh()
	s.eventually("the sync is refused and retried", func() bool {
		count, _, _ := unstructured.NestedInt64(s.application().Object, "status", "operationState", "retryCount")
		return count > 0
	})
}
