package live

import (
	"context"
	"testing"

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
