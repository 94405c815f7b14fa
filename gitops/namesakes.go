package gitops

import (
	"context"
	"maps"
	"slices"

	"github.com/acme/knative-promote/gitops/remote"
)

// Namesakes are the server's other references that Argo CD may deploy where an Application's
// targetRevision follows the branch: see [remote.MayBe]. What protects the branch does not protect those.
func (r *Repo) Namesakes(ctx context.Context, targetRevision string) ([]string, error) {
	advertised, err := r.remote.Advertised(ctx, r.branch)
	if err != nil {
		return nil, err
	}
	mayBe := remote.MayBe(targetRevision)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(advertised.References)), func(reference string) bool {
		return reference == r.branch.String() || !mayBe(reference)
	}), nil
}
