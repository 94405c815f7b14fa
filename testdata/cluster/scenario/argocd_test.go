//go:build cluster

package scenario

import (
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

// refresh has Argo CD look at Git now.
func (s *site) refresh() {
	s.Helper()
	_, err := kube.Resource(applications).Namespace(s.App.GetNamespace()).Patch(s.Context(), s.App.GetName(), types.MergePatchType,
		[]byte(`{"metadata": {"annotations": {"argocd.argoproj.io/refresh": "normal"}}}`), metav1.PatchOptions{})
	s.must(err)
}
