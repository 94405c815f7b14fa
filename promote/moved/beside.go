package moved

import (
	"context"
	"fmt"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
)

// beside says which other Service of the Application somebody has moved past Git, which a sync of the whole Application
// would undo, whoever causes it; empty: none, as far as can be seen.
func (r Reader) beside(ctx context.Context, app *v1alpha1.Application, service string) string {
	deployed := argo.Deployed(r.Overlay.Target.Target, app)
	if len(deployed) == 0 || !argo.StaysOutOfSync(app) {
		return ""
	}
	for _, name := range argo.OutOfSyncBeside(app, service) {
		if why := r.movedBeside(ctx, name, deployed[0]); why != "" {
			return why
		}
	}
	return ""
}

// movedBeside compares the traffic that one of them is given in the cluster with that of a commit.
func (r Reader) movedBeside(ctx context.Context, name, commit string) string {
	other, target := r.Overlay, r.Overlay.Target.Target
	other.Service, target.Service = name, name
	state, err := other.At(ctx, commit)
	if err != nil {
		return ""
	}
	git, err := state.Traffic()
	if err != nil {
		return ""
	}
	seen, err := r.Service.Cluster.Live(ctx, target)
	if err != nil || argo.SameShares(git, seen.Service.Spec.Traffic) {
		return ""
	}
	return fmt.Sprintf("somebody has moved the traffic of Service %s past Git, to %s, and commit %.8s, which Argo CD deployed last, gives it to %s: any sync of application %s undoes that: have Git say so first, as knative-promote rollback --service %s does, or sync what Git says",
		name, knative.Describe(seen.Service.Spec.Traffic), commit, knative.Describe(git), target.App, name)
}
