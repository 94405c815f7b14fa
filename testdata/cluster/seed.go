package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/acme/knative-promote/testdata/cluster/plane"
)

// seed makes infra.git from the project's example repository and deploys
// its overlays, each with an Application SERVICE-OVERLAY.
func seed(ctx context.Context, p *plane.Plane) error {
	example, err := plane.Example(ctx)
	if err != nil {
		return err
	}
	k, err := p.Kube()
	if err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(p.Repositories(), "infra.git")); err != nil {
		return err
	}
	url, err := p.Repository("infra", os.DirFS(example))
	if err != nil {
		return err
	}
	overlays, err := filepath.Glob(filepath.Join(example, "apps/*/overlays/*"))
	if err != nil {
		return err
	}
	for _, dir := range overlays {
		overlay, err := filepath.Rel(example, dir)
		if err != nil {
			return err
		}
		name := filepath.Base(filepath.Dir(filepath.Dir(dir))) + "-" + filepath.Base(dir)
		if err := k.Deploy(ctx, plane.Application(name, url, filepath.ToSlash(overlay), "")); err != nil {
			return err
		}
		fmt.Printf("%s is Synced and Healthy\n", name)
	}
	fmt.Printf(next, p.EnvFile(), url)
	return nil
}

// next is what to do now: a format of the file with the variables and the
// infra repository's URL.
const next = `
Promote, in a shell that has read the addresses and tokens:

  source %s
  go run ./cmd/knative-promote promote --repository %s \
    --path apps/product-import/overlays/production --application product-import-production \
    --image ghcr.io/acme/product-import:v2.0.0 --steps 10@5s,50@5s,100 --probe /healthz

An image with broken, slow5, crash5 or http500 in its tag behaves so: see testdata/cluster/below.
`
