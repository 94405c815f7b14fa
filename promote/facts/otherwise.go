package facts

import (
	"context"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
)

// otherwise is what Argo CD renders otherwise of the overlay at the tip, where it has rendered that. Of a commit that is
// checked out, which may be anybody's, it is asked only where it has rendered that before: it checks out what a commit names,
// and fetches what a kustomization names, with its own credential.
func (r Reader) otherwise(ctx context.Context, at plan.Situation) (all []string, rendered bool, err error) {
	if r.Renderer == nil || at.App == nil || r.Git == nil && !argo.Compares(at.App, r.Request.Source, at.Tip.Hash) {
		return nil, false, nil
	}
	manifests, err := r.Renderer.Manifests(ctx, at.App, r.Request.Source, at.Tip.Hash)
	if err != nil {
		return nil, false, err
	}
	return knative.Otherwise(at.Now, manifests), true, nil
}
