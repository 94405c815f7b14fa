package argotest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// applications is Argo CD's ApplicationService. What is not written here answers Unimplemented.
type applications struct {
	application.UnimplementedApplicationServiceServer
	server *Server
	rights rights
}

// find looks an Application up with the answers of the real server: without a project it does not
// tell whether the Application exists.
func (a *applications) find(project, namespace, name string) (*stored, error) {
	if namespace == "" {
		namespace = "argocd"
	}
	for _, app := range a.server.apps {
		current := app.get()
		if current.Name == name && current.Namespace == namespace && (project == "" || project == current.Spec.Project) {
			return app, nil
		}
	}
	if project != "" {
		return nil, status.Errorf(codes.NotFound, "applications.argoproj.io %q not found", name)
	}
	return nil, status.Error(codes.PermissionDenied, "permission denied")
}

// Get returns an Application; with refresh it first waits for a comparison that began after the
// call.
func (a *applications) Get(ctx context.Context, query *application.ApplicationQuery) (*v1alpha1.Application, error) {
	app, err := a.find(projectOf(query), query.GetAppNamespace(), query.GetName())
	if err != nil {
		return nil, err
	}
	if query.Refresh == nil {
		return app.get(), nil
	}
	kind := v1alpha1.RefreshTypeNormal
	if query.GetRefresh() == string(v1alpha1.RefreshTypeHard) {
		kind = v1alpha1.RefreshTypeHard
	}
	events, stop := app.watch()
	defer stop()
	asked, err := app.update(func(app *v1alpha1.Application) error {
		if app.Annotations == nil {
			app.Annotations = map[string]string{}
		}
		app.Annotations[v1alpha1.AnnotationKeyRefresh] = string(kind)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for {
		select {
		case <-ctx.Done():
			return nil, errors.New("application refresh deadline exceeded")
		case event := <-events:
			if _, pending := event.Annotations[v1alpha1.AnnotationKeyRefresh]; !pending && newer(event, asked) {
				return event, nil
			}
		}
	}
}

// newer compares the resource versions of two states of an Application.
func newer(a, b *v1alpha1.Application) bool {
	x, errX := strconv.Atoi(a.ResourceVersion)
	y, errY := strconv.Atoi(b.ResourceVersion)
	return errX == nil && errY == nil && x > y
}

func projectOf(query *application.ApplicationQuery) string {
	for _, project := range append(query.GetProject(), query.GetProjects()...) {
		return project
	}
	return ""
}

// List returns all Applications of the query's projects, or all.
func (a *applications) List(_ context.Context, query *application.ApplicationQuery) (*v1alpha1.ApplicationList, error) {
	list := &v1alpha1.ApplicationList{}
	for _, app := range a.server.apps {
		current := app.get()
		if project := projectOf(query); project == "" || project == current.Spec.Project {
			list.Items = append(list.Items, *current)
		}
	}
	return list, nil
}

// Watch sends the Application as it is and then every change. As the real one it says nothing at
// all about an Application that does not exist.
func (a *applications) Watch(query *application.ApplicationQuery, stream application.ApplicationService_WatchServer) error {
	ctx := stream.Context()
	app, err := a.find(projectOf(query), query.GetAppNamespace(), query.GetName())
	if err != nil {
		<-ctx.Done()
		return nil
	}
	events, stop := app.watch()
	defer stop()
	kind, current := watch.Added, app.get()
	for {
		if err := stream.Send(&v1alpha1.ApplicationWatchEvent{Type: kind, Application: *current}); err != nil {
			return err
		}
		kind = watch.Modified
		select {
		case <-ctx.Done():
			return nil
		case current = <-events:
		}
	}
}

// GetResource returns a live object of the Application, read from the cluster now.
func (a *applications) GetResource(_ context.Context, query *application.ApplicationResourceRequest) (*application.ApplicationResourceResponse, error) {
	app, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetName())
	if err != nil {
		return nil, err
	}
	live := a.server.cluster.Get(cluster.Ref{
		Group: query.GetGroup(), Kind: query.GetKind(), Namespace: query.GetNamespace(), Name: query.GetResourceName(),
	})
	if live == nil || a.server.cluster.Root(live).GetLabels()[instanceLabel] != app.source.label {
		return nil, status.Errorf(codes.InvalidArgument, "%s %s %s not found as part of application %s",
			query.GetKind(), query.GetGroup(), query.GetResourceName(), query.GetName())
	}
	data, err := json.Marshal(live.Object)
	if err != nil {
		return nil, fmt.Errorf("error marshaling object: %w", err)
	}
	manifest := string(data)
	return &application.ApplicationResourceResponse{Manifest: &manifest}, nil
}
