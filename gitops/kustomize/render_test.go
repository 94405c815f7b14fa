package kustomize_test

import (
	"os"
	"testing"

	"github.com/acme/knative-promote/gitops/kustomize"
)

func TestRenderExample(t *testing.T) {
	t.Parallel()
	out, err := kustomize.Render(t.Context(), os.DirFS("../../testdata/infra"), "apps/product-import/overlays/production")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
}

func TestSet(t *testing.T) {
	src, _ := os.ReadFile("../../testdata/infra/apps/product-import/overlays/production/kustomization.yaml")
	i, err := kustomize.ParseImage("ghcr.io/acme/product-import:v1.10")
	if err != nil {
		t.Fatal(err)
	}
	j, err := kustomize.ParseImage("other=ghcr.io/acme/product-import@sha256:0123456789012345678901234567890123456789012345678901234567890123")
	if err != nil {
		t.Fatal(err)
	}
	out, err := kustomize.SetImage(src, i, j)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	out, err = kustomize.RestoreImages(out, src, i.Name, j.Name)
	if err != nil || string(out) != string(src) {
		t.Error(err, string(out))
	}
	out, err = kustomize.AddPatch(src, "x.yaml", kustomize.Target{Group: "serving.knative.dev", Kind: "Service", Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s", out)
	out, err = kustomize.RemovePatch(out, "x.yaml")
	if err != nil || string(out) != string(src) {
		t.Error(err, string(out))
	}
}
