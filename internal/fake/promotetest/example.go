package promotetest

import (
	"os"
	"testing"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// Production is the overlay of the example infra repository that tests promote in.
const Production = "apps/product-import/overlays/production"

// Example is that overlay as it is before any promotion, for tests of packages two folders
// below the root.
func Example(t *testing.T) *knative.State {
	t.Helper()
	state, err := knative.Read(t.Context(), os.DirFS("../../testdata/infra"), Production, "product-import")
	if err != nil {
		t.Fatal(err)
	}
	return state
}

// SetTag is the overlay with a tag of its image.
func SetTag(t *testing.T, state *knative.State, tag string) *knative.State {
	t.Helper()
	next, err := state.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/product-import", NewTag: tag}})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// RevisionOf is the name that the overlay's template gets.
func RevisionOf(t *testing.T, state *knative.State) string {
	t.Helper()
	name, err := state.NextRevision()
	if err != nil {
		t.Fatal(err)
	}
	return name
}
