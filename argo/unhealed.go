package argo

import (
	"context"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// standing reads the Application after a new comparison with Git, unless that would have Argo
// CD undo what somebody has made of the Service: then it is read as it is.
func standing(ctx context.Context, c *Client, target Target) (*v1alpha1.Application, error) {
	app, err := c.application(ctx, target.App, noRefresh)
	if err != nil || unhealed(target, app) {
		return app, err
	}
	return c.application(ctx, target.App, v1alpha1.RefreshTypeNormal)
}

// unhealed tells whether Argo CD syncs by itself and yet leaves the Service out of sync, as it
// heals nothing: it has synced with success, and the cluster was changed since. It syncs no
// commit twice, but it does sync any other one, also where that changes nothing of the
// Application, once it compares that and the cluster still differs: by the next poll, or by
// the refresh that somebody asks for
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go#L2103-L2128).
func unhealed(target Target, app *v1alpha1.Application) bool {
	state, service := app.Status.OperationState, serviceStatus(Intent{Target: target}, app)
	return Automated(app) && !Heals(app) && app.Operation == nil && state != nil && state.Phase.Successful() &&
		service != nil && service.Status == v1alpha1.SyncStatusCodeOutOfSync && !service.RequiresPruning
}
