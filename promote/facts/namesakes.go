package facts

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/check"
)

// NamesakesWarning says that Argo CD may deploy something else in the place of the branch that an
// Application follows; empty: it may not, or that is not known.
func (r Reader) NamesakesWarning(ctx context.Context, app *v1alpha1.Application) string {
	found, _ := r.namesakes(ctx, app) // what it is asked for has failed already
	return check.NamesakesWarning(found, r.Request.Source.Branch)
}

// namesakes are what Argo CD may deploy in the place of the branch that an Application follows, where
// it is known which.
func (r Reader) namesakes(ctx context.Context, app *v1alpha1.Application) (none gitops.Namesakes, err error) {
	if r.Git == nil || app == nil {
		return none, nil
	}
	index, err := argo.SourceIndex(app, r.Request.Source)
	if err != nil {
		return none, nil // the rule source says so
	}
	return r.Git.Namesakes(ctx, app.Spec.GetSources()[index].TargetRevision)
}
