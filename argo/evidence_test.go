package argo

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestLastOf keeps the end of what a pod has written within bounds.
func TestLastOf(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ lines, want []string }{
		"none":       {nil, nil},
		"few":        {[]string{"a", "", "b"}, []string{"a", "b"}},
		"many":       {[]string{"a", "b", "c", "d"}, []string{"b", "c", "d"}},
		"long":       {[]string{strings.Repeat("x", 8), "b", "c"}, []string{"b", "c"}},
		"long alone": {[]string{strings.Repeat("x", 20)}, nil},
	} {
		if got := lastOf(test.lines, 3, 10); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestNewestPod finds the pod of a revision that was made last, and no other revision's.
func TestNewestPod(t *testing.T) {
	t.Parallel()
	node := func(kind, name string, second int64) v1alpha1.ResourceNode {
		at := metav1.NewTime(time.Unix(second, 0))
		return v1alpha1.ResourceNode{ResourceRef: v1alpha1.ResourceRef{Kind: kind, Name: name}, CreatedAt: &at}
	}
	tree := &v1alpha1.ApplicationTree{Nodes: []v1alpha1.ResourceNode{
		node("Pod", "shop-1-deployment-a", 1), node("Pod", "shop-1-deployment-b", 3), node("Pod", "shop-1-deployment-c", 2),
		node("Pod", "shop-10-deployment-d", 9), node("ReplicaSet", "shop-1-deployment-e", 9), {ResourceRef: v1alpha1.ResourceRef{Kind: "Pod", Name: "shop-1-deployment-f"}},
	}}
	if pod, found := newestPod(tree, "shop-1"); !found || pod.Name != "shop-1-deployment-b" {
		t.Errorf("found %t: %s", found, pod.Name)
	}
	if pod, found := newestPod(tree, "shop-2"); found {
		t.Errorf("found %s", pod.Name)
	}
}

// TestServingContainer is the one with a port, else the first one.
func TestServingContainer(t *testing.T) {
	t.Parallel()
	revision := new(servingv1.Revision)
	revision.Spec.Containers = []corev1.Container{{Name: "proxy"}, {Name: "web", Ports: []corev1.ContainerPort{{ContainerPort: 8080}}}}
	if got := servingContainer(revision); got != "web" {
		t.Errorf("%q serves", got)
	}
	revision.Spec.Containers[1].Ports = nil
	if got := servingContainer(revision); got != "proxy" {
		t.Errorf("without a port %q serves", got)
	}
}
