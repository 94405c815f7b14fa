package live

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// crashed is an Argo CD whose revisions are all there; those named have failed.
type crashed struct {
	Cluster
	failed map[string]bool
}

func (c crashed) Revision(_ context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	if name == "web-new" {
		return nil, argo.ErrNotFound
	}
	found := &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if c.failed[name] {
		found.Status.MarkContainerHealthyFalse("ExitCode1", "it exited")
	}
	return found, nil
}

// TestLatestDown resolves a target that follows the latest revision as Knative does: to the
// template's own, or else to the one that was the latest ready one.
func TestLatestDown(t *testing.T) {
	t.Parallel()
	follows := []servingv1.TrafficTarget{{RevisionName: "web-1", Percent: new(int64(100))}, {Tag: "preview", LatestRevision: new(true)}}
	for name, test := range map[string]struct {
		made, ready string
		failed      []string
		down        bool
	}{
		"the template's own is Ready":              {"web-1", "web-2", []string{"web-2"}, false},
		"it is not made yet":                       {"web-new", "web-2", []string{"web-2"}, false},
		"it has failed after it was Ready":         {"web-2", "web-2", []string{"web-2"}, true},
		"it has failed, and the one before is fit": {"web-2", "web-1", []string{"web-2"}, false},
		"it has failed, and so has the one before": {"web-3", "web-2", []string{"web-2", "web-3"}, true},
		"none has been Ready":                      {"web-2", "", []string{"web-2"}, false},
		"the template has no name":                 {"", "web-2", []string{"web-2"}, false},
	} {
		failed := map[string]bool{}
		for _, revision := range test.failed {
			failed[revision] = true
		}
		service, seen := Service{Cluster: crashed{failed: failed}}, &servingv1.Service{}
		seen.Status.LatestReadyRevisionName = test.ready
		seen.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "web-1"}}
		if why := service.LatestDown(t.Context(), seen, test.made); (why != "") != test.down {
			t.Errorf("%s: %q", name, why)
		}
		if why := service.Blocking(t.Context(), seen, follows, test.made); (why != "") != test.down {
			t.Errorf("%s: blocking: %q", name, why)
		}
	}
	if why := (Service{Cluster: crashed{}}).LatestDown(t.Context(), nil, "web-1"); why != "" {
		t.Errorf("where the Service was not seen: %q", why)
	}
}
