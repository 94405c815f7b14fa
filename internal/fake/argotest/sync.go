package argotest

import (
	"context"
	"fmt"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Sync begins a sync with the checks of the real server.
func (a *applications) Sync(ctx context.Context, request *application.ApplicationSyncRequest) (*v1alpha1.Application, error) {
	app, err := a.find(request.GetProject(), request.GetAppNamespace(), request.GetName())
	if err != nil {
		return nil, err
	}
	current := app.get()
	if a.server.projects.closed(current, true) {
		return nil, status.Error(codes.PermissionDenied, "cannot sync: blocked by sync window")
	}
	if err := a.rights.check("applications", "sync", current.Spec.GetProject()+"/"+current.Name); err != nil {
		return nil, err
	}
	branch := current.Spec.GetSource().TargetRevision
	automated := current.Spec.SyncPolicy.Automated != nil
	if automated && !request.GetDryRun() && request.GetRevision() != "" && request.GetRevision() != branch {
		return nil, status.Errorf(codes.FailedPrecondition, "Cannot sync to %s: auto-sync currently set to %s", request.GetRevision(), branch)
	}
	revision, err := app.source.resolve(ctx, request.GetRevision())
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	updated, err := app.setOperation(syncOperation(current, request, revision))
	if err != nil {
		return nil, fmt.Errorf("error setting app operation: %w", err)
	}
	return updated, nil
}

func syncOperation(app *v1alpha1.Application, request *application.ApplicationSyncRequest, revision string) *v1alpha1.Operation {
	operation := &v1alpha1.Operation{
		Sync: &v1alpha1.SyncOperation{
			Revision: revision, Prune: request.GetPrune(), DryRun: request.GetDryRun(),
			SyncOptions: app.Spec.SyncPolicy.SyncOptions, SyncStrategy: request.Strategy,
		},
		InitiatedBy: v1alpha1.OperationInitiator{Username: "admin"},
		Info:        request.Infos,
	}
	if request.SyncOptions != nil {
		operation.Sync.SyncOptions = request.SyncOptions.Items
	}
	for _, resource := range request.GetResources() {
		operation.Sync.Resources = append(operation.Sync.Resources, *resource)
	}
	for _, retry := range []*v1alpha1.RetryStrategy{app.Spec.SyncPolicy.Retry, request.RetryStrategy} {
		if retry != nil {
			operation.Retry = *retry
		}
	}
	return operation
}

// TerminateOperation ends the operation in progress, also one that waits for a retry.
func (a *applications) TerminateOperation(_ context.Context, request *application.OperationTerminateRequest) (*application.OperationTerminateResponse, error) {
	app, err := a.find(request.GetProject(), request.GetAppNamespace(), request.GetName())
	if err != nil {
		return nil, err
	}
	if err := a.rights.check("applications", "sync", app.get().Spec.GetProject()+"/"+app.get().Name); err != nil {
		return nil, err
	}
	_, err = app.update(func(app *v1alpha1.Application) error {
		if app.Operation == nil || app.Status.OperationState == nil {
			return status.Error(codes.InvalidArgument, "Unable to terminate operation. No operation is in progress")
		}
		app.Status.OperationState.Phase = common.OperationTerminating
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &application.OperationTerminateResponse{}, nil
}
