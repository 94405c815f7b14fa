package knative

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRefusedMetadata has what the API server of a cluster refused, and what it took.
func TestRefusedMetadata(t *testing.T) {
	t.Parallel()
	long := metav1.Unix(1700000000, 0)
	for want, meta := range map[string]metav1.ObjectMeta{
		"":                           {Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"a/b": "!"}, Finalizers: []string{"a.example/b"}},
		"metadata.labels":            {Labels: map[string]string{"team": "a team!"}},
		"metadata.annotations":       {Annotations: map[string]string{"bad key!": ""}},
		"metadata.resourceVersion":   {ResourceVersion: "7"},
		"metadata.uid":               {UID: "x"},
		"metadata.creationTimestamp": {CreationTimestamp: long},
		"metadata.deletionTimestamp": {DeletionTimestamp: &long},
		"metadata.finalizers":        {Finalizers: []string{"bad key!"}},
		"metadata.ownerReferences":   {OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "A", Name: "a"}}},
	} {
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
