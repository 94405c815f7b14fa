package facts

import (
	"context"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
)

// otherwise is what Argo CD renders otherwise of the overlay at the tip, where it has rendered that.
func (r Reader) otherwise(ctx context.Context, at plan.Situation) (all []string, rendered bool, err error) {
	if r.Renderer == nil || at.App == nil {
		return nil, false, nil
	}
	manifests, err := r.Renderer.Manifests(ctx, at.App, r.Request.Source, at.Tip.Hash)
	if err != nil {
		return nil, false, err
	}
	return knative.Otherwise(knative.Both{Ours: at.Now.Objects(), Others: manifests}), true, nil
}
