//go:build cluster

package scenario

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// TestCheckDifferences: what Argo CD is told to leave alone is not promoted,
// though it calls itself Synced.
func TestCheckDifferences(t *testing.T) {
	creator := []string{"/metadata/annotations/serving.knative.dev~1creator", "/metadata/annotations/serving.knative.dev~1lastModifier"}
	troubles(t, map[string]trouble{
		"traffic-ignored": {layout: func(l *layout) { l.ignore("/spec/traffic") }},
		"traffic-ignored and respected": {layout: func(l *layout) {
			l.ignore("/spec/traffic")
			l.option("RespectIgnoreDifferences=true")
		}},
		"template-ignored": {layout: func(l *layout) {
			l.ignore("/spec/template")
			l.option("RespectIgnoreDifferences=true")
		}},
		"ignored-unclear": {
			layout: func(l *layout) { l.ignoring("jqPathExpressions", `.spec | .["traf" + "fic"]`) },
			fix:    func(s *site) { s.patchApplication(`[{"op": "remove", "path": "/spec/ignoreDifferences"}]`) },
		},
		"last-applied-annotations": {
			layout: func(l *layout) {
				l.ignore(creator...)
				l.option("RespectIgnoreDifferences=true")
			},
			set: func(s *site) {
				s.promote("v1.1.0", "steps=100").exits(0)
				s.patchApplication(`[{"op": "remove", "path": "/spec/ignoreDifferences"}]`)
			},
		},
	})
}

// TestCheckApply: not every way to apply a Service suits Knative.
func TestCheckApply(t *testing.T) {
	all := map[string]trouble{
		"replace": {
			layout: func(l *layout) { l.option("Replace=true") },
			fix:    func(s *site) { s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/syncOptions/1"}]`) },
		},
		"server-side-apply-diff": {
			layout: onServer("containerPort: 8080, protocol: TCP"),
			set:    (*site).compareOnClient,
			seen:   func(s *site) { s.becomes("OutOfSync", "Healthy") },
			gone:   func(s *site) { s.becomes("Synced", "Healthy") },
		},
	}
	if strings.HasPrefix(world.Versions.Knative, "0.42.") { // later the ports are no list by keys
		all["server-side-apply-ports"] = trouble{layout: onServer("containerPort: 8080"), set: (*site).compareOnClient}
	}
	if strings.HasPrefix(world.Versions.ArgoCD, "2.") { // 3 tracks by an annotation, so that there always is one to apply
		all["server-side-apply-switched"] = trouble{set: func(s *site) {
			s.patchApplication(`[{"op": "add", "path": "/spec/syncPolicy/syncOptions/-", "value": "ServerSideApply=true"}]`)
		}}
	}
	troubles(t, all)
}

// onServer is a Service with a port that is applied and compared on the server.
func onServer(port string) func(*layout) {
	return func(l *layout) {
		odd("        ports: [{" + port + "}]\n")(l)
		serverSide(l)
	}
}

// compareOnClient takes the Application's ServerSideDiff away.
func (s *site) compareOnClient() {
	s.Helper()
	s.patchApplication(`[{"op": "remove", "path": "/metadata/annotations"}]`)
}

// TestCheckSource: Argo CD deploys something else than the overlay at the tip.
func TestCheckSource(t *testing.T) {
	kustomize := func(field string, value any) func(*site) {
		return func(s *site) {
			patch, err := yaml.YAMLToJSON(fmt.Appendf(nil, "[{op: add, path: /spec/source/kustomize, value: {%s: %v}}]", field, value))
			s.must(err)
			s.patchApplication(string(patch))
		}
	}
	troubles(t, map[string]trouble{
		"source": {ends: 3, set: func(s *site) {
			s.patchApplication(fmt.Sprintf(`[{"op": "replace", "path": "/spec/source/targetRevision", "value": %q}]`, s.Seed))
		}},
		"source hydrated": {
			ends: 3,
			set: func(s *site) {
				s.patchApplication(fmt.Sprintf(`[{"op": "add", "path": "/spec/sourceHydrator", "value": {
					"drySource": {"repoURL": %q, "targetRevision": "main", "path": %q}, "syncSource": {"targetBranch": "hydrated", "path": "apps"}}}]`, s.URL, s.Overlay))
			},
			fix: func(s *site) { s.patchApplication(`[{"op": "remove", "path": "/spec/sourceHydrator"}]`) },
		},
		"generate-paths": {
			layout: func(l *layout) { l.annotate("argocd.argoproj.io/manifest-generate-paths", "/apps/other") },
			seen:   func(s *site) { s.promote("v2.0.0", "steps=100").exits(0).says("wait: the live Service's") },
		},
		"image-overridden":  {set: kustomize("images", "['ghcr.io/acme/app:v1.0.0']")},
		"render-overridden": {set: kustomize("commonLabels", "{team: shop}")},
		"condition": {
			layout: twoSources,
			set: func(s *site) {
				s.patchApplication(`[{"op": "replace", "path": "/spec/sources/1/path", "value": "missing"}]`)
				s.becomes("Unknown", "Healthy")
			},
			fix: func(s *site) {
				s.patchApplication(`[{"op": "replace", "path": "/spec/sources/1/path", "value": "extra"}]`)
				s.becomes("Synced", "Healthy")
			},
		},
		"not-kustomize": {
			set: func(s *site) {
				s.patchApplication(`[{"op": "add", "path": "/spec/source/directory", "value": {"recurse": true}}]`)
			},
			fix: func(s *site) { s.patchApplication(`[{"op": "remove", "path": "/spec/source/directory"}]`) },
		},
	})
}

// TestCheckSync: Argo CD does not sync what is pushed, or somebody else does.
func TestCheckSync(t *testing.T) {
	troubles(t, map[string]trouble{
		"auto-sync-off": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["reader"]},
			set:    func(s *site) { s.patchApplication(`[{"op": "remove", "path": "/spec/syncPolicy/automated"}]`) },
		},
		"self-heal-off": {
			layout: func(l *layout) { l.policy("automated", map[string]any{"prune": true}) },
			seen: func(s *site) {
				s.promote("v1.1.0", "steps=100").exits(0)
				s.patchService(`{"spec": {"traffic": [{"latestRevision": true, "percent": 100}]}}`)
				s.becomes("OutOfSync", "Healthy")
			},
			gone: func(s *site) { s.becomes("Synced", "Healthy") },
		},
		"skip-reconcile": {set: func(s *site) {
			s.patchApplication(`[{"op": "add", "path": "/metadata/annotations", "value": {"argocd.argoproj.io/skip-reconcile": "true"}}]`)
		}},
		"owners": {seen: (*site).changesHands, set: (*site).copyApplication, fix: (*site).deleteCopy},
		"sync-window-closed": {
			set: func(s *site) {
				s.project(`sourceRepos: ["*"], syncWindows: [{kind: deny, schedule: "* * * * *", duration: 24h, applications: ["*"]}]`)
			},
			fix: func(s *site) { s.project(`sourceRepos: ["*"]`) },
		},
		"signature-required": {
			set: func(s *site) { s.project(`sourceRepos: ["*"], signatureKeys: [{keyID: D56C4FCA57A46444}]`) },
			fix: func(s *site) { s.project(`sourceRepos: ["*"]`) },
		},
		"sync-window-closes": {
			set: (*site).closesSoon,
			seen: func(s *site) {
				s.promote("v2.0.0", "steps=50@2m,100", "preflight=off", "wait-timeout=20s").exits(10).says("sync window")
			},
			fix: func(s *site) {
				s.project(`sourceRepos: ["*"]`)
				s.becomes("Synced", "Healthy")
			},
		},
		"may-not-sync": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["reader"]},
			set:    (*site).sticks,
			with:   []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["ci"]},
		},
		"too-much-power": {
			inputs: []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["admin"]},
			set:    (*site).copyApplication,
			seen:   (*site).deleteCopy, // with this token
			with:   []string{"ARGOCD_AUTH_TOKEN=" + world.Tokens["ci"]},
		},
		"deleting":       {set: (*site).deleteApplication, fix: (*site).restoreApplication},
		"project-denies": {ends: 1, set: func(s *site) { s.project(`sourceRepos: ["https://git.example.com/other.git"]`) }},
	})
}

// ignore has Argo CD ignore fields of Knative Services.
func (l *layout) ignore(pointers ...string) { l.ignoring("jsonPointers", pointers...) }

// ignoring is ignore by one of the ways to name fields.
func (l *layout) ignoring(way string, fields ...string) {
	entry := map[string]any{"group": "serving.knative.dev", "kind": "Service"}
	for _, field := range fields {
		named, _ := entry[way].([]any)
		entry[way] = append(named, field)
	}
	unstructured.SetNestedSlice(l.App.Object, []any{entry}, "spec", "ignoreDifferences")
}

// becomes waits until Argo CD says so of the Application.
func (s *site) becomes(sync, health string) {
	s.Helper()
	s.refresh()
	s.eventually("the Application is "+sync+" and "+health, func() bool {
		nowSync, nowHealth := s.syncedAndHealthy()
		return nowSync == sync && nowHealth == health
	})
}

// project puts the Application into a project of its own, which permits every
// destination, and what more says.
func (s *site) project(more string) {
	s.Helper()
	s.must(kube.In("argocd").Apply(s.Context(), fmt.Appendf(nil, `
apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: %s}
spec: {destinations: [{namespace: "*", server: "*"}], clusterResourceWhitelist: [{group: "*", kind: "*"}], %s}
`, s.Service, more)))
	s.patchApplication(fmt.Sprintf(`[{"op": "replace", "path": "/spec/project", "value": %q}]`, s.Service))
	s.refresh()
}

// closesSoon has a sync window close the Application in one to two minutes.
func (s *site) closesSoon() {
	s.Helper()
	at := time.Now().UTC().Add(2 * time.Minute)
	s.project(fmt.Sprintf(`sourceRepos: ["*"], syncWindows: [{kind: deny, schedule: "%d %d * * *", duration: 15m, applications: ["*"]}]`, at.Minute(), at.Hour()))
	s.becomes("Synced", "Healthy")
}

// copyApplication makes another Application of the same source.
func (s *site) copyApplication() {
	s.Helper()
	other := s.App.DeepCopy()
	other.SetName(s.App.GetName() + "-copy")
	text, err := yaml.Marshal(other.Object)
	s.must(err)
	s.must(kube.In("argocd").Apply(s.Context(), text))
}

// deleteCopy deletes that Application and waits until the Service is the first
// one's again.
func (s *site) deleteCopy() {
	s.Helper()
	s.paste("argocd app delete " + s.Service + "-copy --cascade=false --yes")
	s.eventually("the Service is marked as its own again", func() bool {
		s.refresh()
		return !strings.Contains(s.owner(), "-copy")
	})
	s.becomes("Synced", "Healthy")
}

// deleteApplication has the Application deleted, which a finalizer holds up.
func (s *site) deleteApplication() {
	s.Helper()
	s.patchApplication(`[{"op": "add", "path": "/metadata/finalizers", "value": ["example.com/held-up"]}]`)
	s.must(kube.Resource(applications).Namespace(s.App.GetNamespace()).Delete(s.Context(), s.App.GetName(), metav1.DeleteOptions{}))
}

// restoreApplication lets the Application be gone and makes it anew.
func (s *site) restoreApplication() {
	s.Helper()
	s.patchApplication(`[{"op": "remove", "path": "/metadata/finalizers"}]`)
	text, err := yaml.Marshal(s.App.Object)
	s.must(err)
	s.must(kube.In(s.App.GetNamespace()).Apply(s.Context(), text))
	s.becomes("Synced", "Healthy")
}

// patchService changes the live Service by a merge patch, as somebody would by
// hand.
func (s *site) patchService(patch string) {
	s.Helper()
	_, err := kube.Resource(services).Namespace(s.Namespace).Patch(s.Context(), s.Service, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// changesHands fails the scenario unless the Service is marked as one
// Application's and then as another's.
func (s *site) changesHands() {
	s.Helper()
	first := s.owner()
	for _, other := range []bool{true, false} {
		s.eventually("the Service changes hands", func() bool { return (s.owner() != first) == other })
	}
}

// owner is Argo CD's mark on the Service: a label, and since Argo CD 3 an
// annotation.
func (s *site) owner() string {
	live := s.live()
	return live.Labels["app.kubernetes.io/instance"] + live.Annotations["argocd.argoproj.io/tracking-id"]
}
