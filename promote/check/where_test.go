package check

import (
	"context"
	"fmt"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
)

// TestWhere looks for lines in an overlay of two layers with a renamed Service.
func TestWhere(t *testing.T) {
	t.Parallel()
	archive, err := txtar.ParseFile("testdata/where.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tree, err := txtar.FS(archive)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := knative.Read(context.Background(), tree, "overlays/production", "")
	if err != nil {
		t.Fatal(err)
	}
	f := Facts{Tree: tree, Overlay: overlay, Request: Request{Target: argo.Target{Service: overlay.Service()}}}
	for _, tt := range []struct {
		place place
		want  string
	}{
		{f.inService("spec", "template", "spec", "containers", 0, "image"), "base/service.yaml:18"},
		{f.inService("spec", "template", "spec", "containers", 1, "image"), "base/service.yaml:16"},
		{f.inService("spec", "template", "metadata", "annotations", "autoscaling.knative.dev/max-scale"), "overlays/production/scale.yaml:9"},
		{f.inService("spec", "template", "metadata", "annotations", "autoscaling.knative.dev/min-scale"), "base/service.yaml:14"},
		{f.inService(), "overlays/production/scale.yaml:1"},
		{f.where("v1", "Service", "prod-web"), "base/service.yaml:1"},
		{f.where("v1", "Secret", "none", "data"), "overlays/production/kustomization.yml:0"},
		{f.inKustomization("images", 0, "newTag"), "overlays/production/kustomization.yml:8"},
		{f.inKustomization("helmCharts"), "overlays/production/kustomization.yml:0"},
		{Facts{}.inService("spec"), ":0"},
	} {
		if got := fmt.Sprintf("%s:%d", tt.place.File, tt.place.Line); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
