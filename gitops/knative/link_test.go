package knative_test

import (
	"io/fs"
	"maps"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/kustomize"
)

// TestLinkedOverlay edits the folder that a symbolic link leads to, as Argo CD
// renders it.
func TestLinkedOverlay(t *testing.T) {
	t.Parallel()
	tree := fstest.MapFS{
		"current":                                 {Data: []byte("apps/shop"), Mode: fs.ModeSymlink},
		"apps/shop/production/service.yaml":       {Data: []byte(service), Mode: 0o644},
		"apps/shop/production/kustomization.yaml": {Data: []byte("resources: [service.yaml]\n"), Mode: 0o644},
	}
	now, err := knative.Read(t.Context(), tree, "current/production", "")
	if err != nil {
		t.Fatal(err)
	}
	next, err := now.SetImages(t.Context(), []kustomize.Image{{Name: "ghcr.io/acme/shop", NewTag: "v2"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := next.Images(), []string{"ghcr.io/acme/shop:v2"}; !slices.Equal(got, want) {
		t.Errorf("renders %v, want %v", got, want)
	}
	files, err := next.Files()
	if got := slices.Collect(maps.Keys(files)); err != nil || !slices.Equal(got, []string{"apps/shop/production/kustomization.yaml"}) {
		t.Errorf("edits %v, %v", got, err)
	}
}

const service = `apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: shop
spec:
  template:
    spec:
      containers:
        - image: ghcr.io/acme/shop:v1
`
