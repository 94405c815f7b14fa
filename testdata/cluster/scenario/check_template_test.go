//go:build cluster

package scenario

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// TestCheckTemplate: what the template has, had or lacks.
func TestCheckTemplate(t *testing.T) {
	troubles(t, map[string]trouble{
		"pod-security": {
			inputs: []string{"pod-security=restricted"},
			seen:   func(s *site) { s.promote("v2.0.0", "steps=100", "pod-security=restricted").exits(13) },
			fix: func(s *site) {
				_, context, found := strings.Cut(s.finds("pod-security", "pod-security=restricted").Fix, "securityContext: {")
				if !found {
					s.Fatal("no securityContext to paste")
				}
				s.patchOverlay("patches:\n- target: {kind: Service}\n  patch: |-\n    - {op: add, path: /spec/template/spec/containers/0/securityContext, value: {" + strings.TrimSpace(context) + "}\n")
				s.refresh()
			},
		},
		"revision-failed": {
			inputs: []string{"image=ghcr.io/acme/app:v2.0.0-exit1"},
			set:    func(s *site) { s.promote("v2.0.0-exit1", "steps=100").exits(8) },
			seen:   func(*site) {}, // it has just failed
			fix: func(s *site) {
				_, part, found := strings.Cut(s.finds("revision-failed", "image=ghcr.io/acme/app:v2.0.0-exit1").Fix, "in the overlay:")
				if !found {
					s.Fatal("nothing to paste")
				}
				part = "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: " + s.Service + "}\n" + strings.TrimSpace(part) + "\n"
				s.push("Try again", map[string]string{"./again.yaml": part})
				s.patchOverlay("patches:\n- path: again.yaml\n")
				s.refresh()
			},
		},
		"configuration-rolled-back": {
			set: func(s *site) {
				s.promote("v1.1.0", "steps=100").exits(0)
				s.push("Scale further", map[string]string{"./patches/scale.yaml": replaced(s.T, s.read("./patches/scale.yaml"), `"10"`, `"20"`)})
				s.begin("promote", "image=unchanged", "steps=100").wait().exits(0)
				s.begin("rollback").wait().exits(0)
			},
			seen: func(*site) {}, // nobody wants it by now
			fix: func(s *site) {
				s.push("Revert it", map[string]string{"./patches/scale.yaml": replaced(s.T, s.read("./patches/scale.yaml"), `"20"`, `"10"`)})
				s.refresh()
			},
		},
		"defaults-hide-template": {
			layout: service(plain),
			set: func(s *site) {
				s.promote("v1.1.0", "steps=100").exits(0)
				base := baseOf(s.Service)
				s.push("Probe it", map[string]string{base: strings.TrimRight(s.read(base), "\n") + "\n        readinessProbe: {httpGet: {path: /healthz, port: 0}}\n"})
				s.refresh()
			},
			seen: func(*site) {}, // Git shows it alone
			fix:  func(s *site) { s.begin("promote", "image=unchanged", "steps=100").wait().exits(0) },
		},
		"shared-without-a-name": {
			layout: func(l *layout) {
				file := l.Overlay + "/kustomization.yaml"
				l.set(file, strings.Replace(string(l.Files[file].Data), "namespace: "+l.Service+"\n", "", 1))
			},
			inputs: []string{"only-this-application=true"},
			set: func(s *site) {
				other := *s
				other.Namespace = s.Service + "-b"
				other.App = plane.Application(other.Namespace, s.URL, s.Overlay, other.Namespace)
				s.must(kube.Deploy(s.Context(), other.App))
				s.Cleanup(other.leave)
			},
			seen: func(s *site) { s.promote("v2.0.0", "steps=100", "only-this-application=true").exits(13) },
		},
	})
}
