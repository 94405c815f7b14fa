package facts

import (
	"context"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
)

// otherwise is what Argo CD renders otherwise of the overlay at the tip.
func (r Reader) otherwise(ctx context.Context, at plan.Situation) ([]string, error) {
	if r.Renderer == nil || at.App == nil {
		return nil, nil
	}
	rendered, err := r.Renderer.Manifests(ctx, at.App, r.Request.Source, at.Tip.Hash)
	if err != nil {
		return nil, err
	}
	return knative.Otherwise(at.Now, rendered), nil
}
