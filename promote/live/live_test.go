package live

import (
	"context"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// notThere is an Argo CD that knows no revision.
type notThere struct{ Cluster }

func (notThere) Revision(context.Context, argo.App, string, string) (*servingv1.Revision, error) {
	return nil, argo.ErrNotFound
}

// TestUnseenIsNotGone has a rollback that goes on without the live Service, as where
// Argo CD is slow, take no revision for gone: what it asks for has no namespace.
func TestUnseenIsNotGone(t *testing.T) {
	t.Parallel()
	seen := Service{Cluster: notThere{}}
	if _, ready := seen.Readiness(t.Context(), nil, "web-1"); !ready.Gone {
		t.Errorf("beside a Service that is not there: %+v, want gone", ready)
	}
	unseen := Service{Cluster: notThere{}, Unseen: true}
	if _, ready := unseen.Readiness(t.Context(), nil, "web-1"); ready.Gone || ready.Why != "" {
		t.Errorf("where nobody could look: %+v, want nothing known", ready)
	}
}

// listing is an Argo CD whose list of live objects is not complete for some answers, as
// after a restart.
type listing struct {
	Cluster
	missing int
	has     []string
}

func (l *listing) Revision(_ context.Context, _ argo.App, _, name string) (*servingv1.Revision, error) {
	if l.missing--; l.missing >= 0 || !slices.Contains(l.has, name) {
		return nil, argo.ErrNotFound
	}
	return &servingv1.Revision{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
}

// TestFind takes a revision for gone only where Argo CD finds the one that has the traffic.
func TestFind(t *testing.T) {
	t.Parallel()
	seen := &servingv1.Service{}
	seen.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "web-2"}}
	for _, test := range []struct {
		missing    int
		has        []string
		found      bool
		gone, told bool
	}{
		{0, []string{"web-1", "web-2"}, true, false, true},
		{1, []string{"web-1", "web-2"}, true, false, true},
		{2, []string{"web-1", "web-2"}, false, false, false},
		{9, []string{"web-1", "web-2"}, false, false, false},
		{0, []string{"web-2"}, false, true, true},
		{1, []string{"web-2"}, false, true, true},
	} {
		found, ready := Service{Cluster: &listing{missing: test.missing, has: test.has}}.Readiness(t.Context(), seen, "web-1")
		if (found != nil) != test.found || ready.Gone != test.gone || ready.Unknown == test.told {
			t.Errorf("%d answers too few of %v: found %t, %+v", test.missing, test.has, found != nil, ready)
		}
	}
}
