package argotest

import (
	"context"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// RunResourceAction knows Argo CD's action create-job of CronJobs. As the real one
// it asks for the right before it looks for the CronJob.
func (a *applications) RunResourceAction(_ context.Context, request *application.ResourceActionRunRequest) (*application.ApplicationResponse, error) {
	app, err := a.find(request.GetProject(), request.GetAppNamespace(), request.GetName())
	if err != nil {
		return nil, err
	}
	action := strings.Join([]string{"action", request.GetGroup(), request.GetKind(), request.GetAction()}, "/")
	if err := a.rights.check("applications", action, app.get().Spec.GetProject()+"/"+app.get().Name); err != nil {
		return nil, err
	}
	if request.GetKind() != "CronJob" || request.GetAction() != "create-job" {
		return nil, status.Errorf(codes.Unknown, "error getting Lua resource action: built-in script does not exist")
	}
	ref := cluster.Ref{Group: request.GetGroup(), Kind: request.GetKind(), Namespace: request.GetNamespace(), Name: request.GetResourceName()}
	live := a.server.cluster.Get(ref)
	if live == nil || a.server.cluster.Root(live).GetLabels()[instanceLabel] != app.source.label {
		return nil, status.Errorf(codes.InvalidArgument, "%s %s %s not found as part of application %s", ref.Kind, ref.Group, ref.Name, request.GetName())
	}
	if err := a.server.cluster.CreateJob(ref); err != nil {
		return nil, status.Error(codes.AlreadyExists, err.Error())
	}
	return &application.ApplicationResponse{}, nil
}
