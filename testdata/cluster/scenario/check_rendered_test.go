//go:build cluster

package scenario

import "testing"

// hookAnnotation is a Service with an annotation of hooks, which somebody takes out again, of a live one too.
func hookAnnotation(name, value string) trouble {
	annotation := name + ": " + value
	return trouble{set: func(s *site) {
		base := baseOf(s.Service)
		s.push("Annotate", map[string]string{base: replaced(s.T, s.read(base), "metadata:", "metadata:\n  annotations: {"+annotation+"}")})
		s.refresh()
	}, fix: func(s *site) {
		base := baseOf(s.Service)
		s.push("Take it out", map[string]string{base: replaced(s.T, s.read(base), "  annotations: {"+annotation+"}\n", "")})
		s.patchService(`{"metadata": {"annotations": {"` + name + `": null}}}`)
		s.refresh()
	}}
}

// TestRendersOtherwise has an overlay that the kustomize of the one Argo CD, and that of the other, read otherwise than
// the tool's.
func TestRendersOtherwise(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.read("./kustomization.yaml")
	s.push("Add plugins", map[string]string{
		"./kustomization.yaml": readOtherwise(t, replaced(t, before, "resources:", "resources:\n  - plugins.yaml")),
		"./plugins.yaml":       plugins,
	})
	s.finds("argo-renders-otherwise", "fail-on=never")
	s.push("Take them out", map[string]string{"./kustomization.yaml": before})
	s.findsNot("argo-renders-otherwise")
}

// readOtherwise is a kustomization with what kustomize 5.4 and what 5.8 read otherwise than the tool's.
func readOtherwise(t *testing.T, kustomization string) string {
	t.Helper()
	return replaced(t, kustomization, "images:", "images:\n  - {name: ghcr.io/acme/plugins, newTag: v2}") +
		"replacements:\n- source: {kind: Deployment, name: plugins, fieldPath: metadata.name}\n  targets: [{select: {kind: Deployment, name: plug.*}, fieldPaths: [spec.template.spec.containers.0.name]}]\n"
}

const plugins = `apiVersion: apps/v1
kind: Deployment
metadata: {name: plugins}
spec:
  replicas: 0
  selector: {matchLabels: {app: plugins}}
  template:
    metadata: {labels: {app: plugins}}
    spec:
      containers: [{name: c, image: ghcr.io/acme/c:v1}]
      volumes: [{name: p, image: {reference: "ghcr.io/acme/plugins:v1"}}]
`
