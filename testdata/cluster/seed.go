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
	return nil
}
