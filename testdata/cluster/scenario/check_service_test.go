//go:build cluster

package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestCheckManifest: manifests that Git and the cluster can never agree on, or
// that no pod comes from.
func TestCheckManifest(t *testing.T) {
	troubles(t, map[string]trouble{
		"service-not-normal": {layout: service(plain), set: func(s *site) {
			s.base("        resources: {requests: {cpu: 1000m, memory: 1024Mi}}\n        env: [{name: A, value: \"\"}]\n")
			s.becomes("OutOfSync", "Healthy")
		}},
		"labels-in-selector": {set: func(s *site) {
			s.push("Label all", map[string]string{"./kustomization.yaml": "commonLabels: {team: shop}\n" + s.read("./kustomization.yaml")})
			s.becomes("OutOfSync", "Healthy")
		}, fix: func(s *site) {
			s.push("Do as check says", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"),
				"commonLabels:", "labels:\n- pairs:")})
		}},
		"image-entry-unused": {
			set: func(s *site) {
				s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(s.T, replaced(s.T, s.read("./kustomization.yaml"),
					"v1.0.0", "v1.5.0"), s.Image, s.Image+"s")})
			},
			seen: func(s *site) {
				s.becomes("Synced", "Healthy")
				if image := s.live().Spec.Template.Spec.Containers[0].Image; strings.HasSuffix(image, ":v1.5.0") {
					s.Errorf("%s is live", image)
				}
			},
			fix: func(s *site) {
				s.push("Do as check says", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"), s.Image+"s", s.Image)})
			},
		},
		"startup-probe-without-port": {layout: service(plain), set: func(s *site) {
			s.base("        startupProbe: {httpGet: {path: /healthz}}\n")
		}},
		"initial-scale-zero": {
			layout: annotated("autoscaling.knative.dev/initial-scale", "0"),
			inputs: []string{"probe=", "probe-connect="},
			seen: func(s *site) {
				s.promote("v2.0.0-broken", "steps=100", "probe=", "probe-connect=").exits(9) // nobody asks for a pod of it, so nobody can tell
			},
		},
		"service-is-a-hook": hookAnnotation("argocd.argoproj.io/hook", "Skip"),
		"cluster-local": {
			set: func(s *site) {
				s.patchService(`{"metadata": {"labels": {"networking.knative.dev/visibility": "cluster-local"}}}`)
				s.eventually("users get nothing", func() bool { return s.ask(s.host()).Status == http.StatusNotFound })
			},
			seen: func(s *site) {
				s.begin("rollback", "to="+s.live().Status.LatestReadyRevisionName).wait().exits(0).says("nobody outside the cluster reaches Service")
			},
		},
		"previous-keeps-running": {
			layout: annotated("autoscaling.knative.dev/min-scale", "2"),
			inputs: []string{"keep-previous=true"},
			seen: func(s *site) {
				before := s.live().Status.LatestReadyRevisionName
				s.promote("v2.0.0", "steps=100", "keep-previous=true").exits(0)
				if n := s.replicas(before); n != 2 {
					s.Errorf("%d pods of the revision before, want 2", n)
				}
			},
			with: []string{"keep-previous=false"},
		},
		"rollout-duration": {
			layout: func(l *layout) {
				service(plain + "  traffic:\n  - latestRevision: true\n    percent: 100\n  - latestRevision: true\n    tag: edge\n")(l)
				l.set(l.base(), strings.Replace(string(l.Files[l.base()].Data), "spec:", "  annotations: {serving.knative.dev/rollout-duration: 20s}\nspec:", 1))
			},
			seen: func(s *site) { s.promote("v2.0.0", "steps=100").exits(0).says("RolloutInProgress") },
		},
	})
}

// TestCheckTraffic: traffic and names that are in a promotion's way.
func TestCheckTraffic(t *testing.T) {
	const all = "  traffic:\n  - {latestRevision: true, percent: 100}\n"
	troubles(t, map[string]trouble{
		"revision-missing": {
			layout: service(plain),
			set: func(s *site) {
				s.base(all + "  - {revisionName: " + s.Service + "-gone, percent: 0, tag: old}\n")
			},
			seen: func(s *site) {
				s.eventually("the Service misses it", func() bool {
					ready := s.live().Status.GetCondition("Ready")
					return ready != nil && ready.Reason == "RevisionMissing"
				})
				s.promote("v2.0.0", "steps=10,100").exits(0).says("somebody's tag old is left out of the traffic")
				s.settled("v2.0.0")
			},
			fix: func(*site) {},
		},
		"service-refused": {
			layout: service(plain),
			set:    func(s *site) { s.base("  traffic:\n  - {latestRevision: true, percent: 90}\n") },
			seen:   func(s *site) { s.refused("Traffic targets sum to 90, want 100") },
			fix:    func(s *site) { s.base("") },
		},
		"promotion-refused": {
			layout: service(plain),
			set: func(s *site) {
				s.base(all + "  - {latestRevision: true, percent: 0, tag: candidate}\n")
			},
			ends: 1,
			fix:  func(s *site) { s.base("") },
		},
		"previous-tag-taken": {
			layout: service(plain),
			inputs: []string{"keep-previous=true"},
			set: func(s *site) {
				s.base(fmt.Sprintf("  traffic:\n  - {revisionName: %[1]s-00001, percent: 100}\n  - {revisionName: %[1]s-00001, tag: previous}\n", s.Service))
			},
			seen: func(s *site) {},
			gone: func(s *site) {
				for _, tag := range []string{"v2.0.0", "v2.5.0"} {
					s.promote(tag, "steps=100", "keep-previous=true").exits(0)
				}
				if tag := s.ask("pinned-" + s.host()).tag(); tag != "v1.0.0" {
					s.Errorf("the tag that was kept answers with %s", tag)
				}
			},
		},
		"template-not-explicit": {
			layout: func(l *layout) { service(namedTemplate(l))(l) },
			seen: func(s *site) {
				s.push("Shift the traffic by hand", map[string]string{baseOf(s.Service): s.read(baseOf(s.Service)) +
					fmt.Sprintf("  traffic:\n  - {revisionName: %[1]s-v1, percent: 100}\n  - {revisionName: %[1]s-v1, percent: 0, tag: edge}\n", s.Service)})
				s.refused("without a name change")
			},
		},
		"template-pinned": {
			layout: func(l *layout) { service(namedTemplate(l))(l) },
			seen: func(s *site) {
				s.push("Deploy by hand", map[string]string{"./kustomization.yaml": replaced(s.T, s.read("./kustomization.yaml"), "v1.0.0", "v1.0.1")})
				s.refused("without a name change")
			},
		},
	})
}

// TestCheckPrune: with prune on, what the old revision reads is deleted while
// it still has the traffic.
func TestCheckPrune(t *testing.T) {
	change := func(s *site, value string) {
		s.push("Change the setting", map[string]string{"./settings.env": "COLOUR=" + value + "\n"})
	}
	troubles(t, map[string]trouble{
		"prune-config": {
			layout: withSettings,
			seen: func(s *site) {
				old := s.settings()
				change(s, "green")
				r := s.begin("promote", "image="+s.Image+":v2.0.0", "steps=50@60s,100", "preflight=off")
				s.eventually("the ConfigMap of the old revision is gone while it has the traffic", func() bool {
					return !s.has(old) && share(s.live().Status.Traffic, s.Service+"-00001") >= 50
				})
				r.cmd.Process.Kill()
				r.wait()
			},
			fix: func(s *site) {
				s.push("Do as check says", map[string]string{"./kustomization.yaml": s.read("./kustomization.yaml") +
					"generatorOptions: {annotations: {argocd.argoproj.io/sync-options: Prune=false, argocd.argoproj.io/compare-options: IgnoreExtraneous}}\n"})
			},
			gone: func(s *site) {
				s.promote("v2.0.0", "steps=100").exits(0)
				old := s.settings()
				change(s, "blue")
				s.promote("v2.5.0", "steps=100").exits(0)
				s.settled("v2.5.0")
				if s.settings() == old || !s.has(old) {
					s.Errorf("the ConfigMap %s of the old revision was deleted", old)
				}
			},
		},
		"prune-off": {
			layout: func(l *layout) {
				l.policy("automated", map[string]any{"selfHeal": true})
				withSettings(l)
			},
			set: func(s *site) {
				change(s, "green")
				s.promote("v1.1.0", "steps=100").exits(0)
			},
			seen: func(s *site) { s.becomes("OutOfSync", "Healthy") },
			gone: func(s *site) { s.becomes("Synced", "Healthy") },
		},
	})
}

// odd is a plain Service whose container has more fields.
func odd(fields string) func(*layout) {
	return service(plain + fields)
}

// annotated is a plain Service whose template has an annotation.
func annotated(key, value string) func(*layout) {
	return service(strings.Replace(plain, "  template:\n", fmt.Sprintf("  template:\n    metadata: {annotations: {%s: %q}}\n", key, value), 1))
}

// namedTemplate is a plain Service's spec whose revision somebody has named.
func namedTemplate(l *layout) string {
	return strings.Replace(plain, "  template:\n", "  template:\n    metadata: {name: "+l.Service+"-v1}\n", 1)
}

// withSettings is a plain Service that reads a generated ConfigMap.
func withSettings(l *layout) {
	odd("        envFrom: [{configMapRef: {name: settings}}]\n")(l)
	l.set("./settings.env", "COLOUR=red\n")
	l.set("./names.yaml", "nameReference:\n- {kind: ConfigMap, version: v1, fieldSpecs: [{path: spec/template/spec/containers/envFrom/configMapRef/name, kind: Service}]}\n")
	l.set("./kustomization.yaml", string(l.Files[l.Overlay+"/kustomization.yaml"].Data)+
		"configMapGenerator: [{name: settings, envs: [settings.env]}]\nconfigurations: [names.yaml]\n")
}

// base sets the base's manifest to the plain Service with more at its end.
func (s *site) base(more string) {
	s.Helper()
	s.push("Change the Service", map[string]string{baseOf(s.Service): "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata:\n  name: " + s.Service + "\nspec:\n" + plain + more})
	s.refresh()
}

// refused waits until Argo CD has said that the cluster refused a sync.
func (s *site) refused(text string) {
	s.Helper()
	s.refresh()
	s.eventually("a sync is refused: "+text, func() bool {
		message, _, _ := unstructured.NestedString(s.application().Object, "status", "operationState", "message")
		return strings.Contains(message, text)
	})
}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// settings is the name of the ConfigMap that the live Service's template reads.
func (s *site) settings() string {
	s.Helper()
	for _, from := range s.live().Spec.Template.Spec.Containers[0].EnvFrom {
		if from.ConfigMapRef != nil {
			return from.ConfigMapRef.Name
		}
	}
	s.Fatal("the Service reads no ConfigMap")
	return ""
}

// has tells whether a ConfigMap is there.
func (s *site) has(configMap string) bool {
	s.Helper()
	_, err := kube.Resource(configMaps).Namespace(s.Namespace).Get(s.Context(), configMap, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) {
		s.must(err)
	}
	return err == nil
}

// replicas is the number of a revision's pods that are ready.
func (s *site) replicas(revision string) int64 {
	s.Helper()
	deployments := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	found, err := kube.Resource(deployments).Namespace(s.Namespace).Get(s.Context(), revision+"-deployment", metav1.GetOptions{})
	s.must(err)
	n, _, err := unstructured.NestedInt64(found.Object, "status", "readyReplicas")
	s.must(err)
	return n
}
