package knative

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRefusedMetadata has what the API server of a cluster refused with kubectl apply, and what it took.
func TestRefusedMetadata(t *testing.T) {
	t.Parallel()
	then, seconds := metav1.Unix(1700000000, 0), int64(3)
	for _, c := range []struct {
		want string // a field; empty: it was taken
		meta metav1.ObjectMeta
	}{
		{"", metav1.ObjectMeta{Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"a/b": "!"}, Finalizers: []string{"a.example/b"}}},
		{"", metav1.ObjectMeta{CreationTimestamp: then, Generation: 99, ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}}}},
		{"metadata.labels", metav1.ObjectMeta{Labels: map[string]string{"team": "a team!"}}},
		{"metadata.annotations", metav1.ObjectMeta{Annotations: map[string]string{"bad key!": ""}}},
		{"metadata.resourceVersion", metav1.ObjectMeta{ResourceVersion: "7"}},
		{"metadata.uid", metav1.ObjectMeta{UID: "x"}},
		{"metadata.deletionTimestamp", metav1.ObjectMeta{DeletionTimestamp: &then}},
		{"metadata.deletionGracePeriodSeconds", metav1.ObjectMeta{DeletionGracePeriodSeconds: &seconds}},
		{"metadata.finalizers", metav1.ObjectMeta{Finalizers: []string{"bad key!"}}},
		{"metadata.ownerReferences", metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "A", Name: "a"}}}},
	} {
		meta, want := c.meta, c.want
		meta.Name, meta.Namespace = "web", "shop"
		err := refusedMetadata(meta)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	if err := refusedMetadata(metav1.ObjectMeta{Name: "web"}); err != nil {
		t.Errorf("without a namespace: %v", err)
	}
}
