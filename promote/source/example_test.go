package source

import (
	"os"
	"testing"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/plan"
)

const production = "apps/product-import/overlays/production"

// ours is what the tests plan for.
func ours() plan.Target {
	return plan.Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: production}
}

// base is the example overlay as it is before any promotion.
func base(t *testing.T) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), os.DirFS("../../testdata/infra"), production, "product-import")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func setTag(t *testing.T, state *knative.State, tag string) *knative.State {
	t.Helper()
	next, err := state.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/product-import", NewTag: tag}})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func revisionOf(t *testing.T, state *knative.State) string {
	t.Helper()
	name, err := state.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	return name
}
