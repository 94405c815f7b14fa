//go:build cluster

package scenario

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// policy sets a field of the Application's sync policy.
func (l *layout) policy(field string, value map[string]any) {
	unstructured.SetNestedMap(l.App.Object, value, "spec", "syncPolicy", field)
}

// option adds a sync option to the Application.
func (l *layout) option(option string) {
	options, _, _ := unstructured.NestedStringSlice(l.App.Object, "spec", "syncPolicy", "syncOptions")
	unstructured.SetNestedStringSlice(l.App.Object, append(options, option), "spec", "syncPolicy", "syncOptions")
}

func (l *layout) annotate(key, value string) {
	l.App.SetAnnotations(map[string]string{key: value})
}

// patchApplication changes the live Application by a JSON patch.
func (s *site) patchApplication(patch string) {
	s.Helper()
	_, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Patch(s.Context(), s.App.GetName(), types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// refresh has Argo CD look at Git now, and waits until it has. Argo CD loses a
// refresh now and then, and does not hear the same one asked again
// (https://github.com/argoproj/argo-rollouts/issues/4073), so both kinds take turns.
func (s *site) refresh() {
	s.Helper()
	kinds, asked := []string{"normal", "hard"}, time.Time{}
	s.eventually("Argo CD has looked at Git", func() bool {
		if time.Since(asked) > 10*time.Second {
			s.requestRefresh(kinds[0])
			slices.Reverse(kinds)
			asked = time.Now()
		}
		return s.application().GetAnnotations()[refreshAnnotation] == ""
	})
}

const refreshAnnotation = "argocd.argoproj.io/refresh" // gone when it was done

func (s *site) requestRefresh(kind string) {
	s.Helper()
	patch := fmt.Appendf(nil, `{"metadata": {"annotations": {%q: %q}}}`, refreshAnnotation, kind)
	_, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Patch(s.Context(), s.App.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	s.must(err)
}
