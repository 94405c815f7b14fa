package argotest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apiclient/application"
	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	manifests "github.com/argoproj/argo-cd/v2/reposerver/apiclient"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// GetManifests renders the Application at a revision, by default at the one it was last compared
// with the branch of.
func (a *applications) GetManifests(ctx context.Context, query *application.ApplicationManifestQuery) (*manifests.ManifestResponse, error) {
	app, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetName())
	if err != nil {
		return nil, err
	}
	commit, err := app.source.resolve(ctx, query.GetRevision())
	if err != nil {
		return nil, err
	}
	targets, err := app.rendered.render(ctx, app.source, commit)
	if err != nil {
		return nil, fmt.Errorf("failed to generate manifest: %w", err)
	}
	response := &manifests.ManifestResponse{Revision: commit, SourceType: string(v1alpha1.ApplicationSourceTypeKustomize)}
	for _, target := range targets {
		data, err := target.MarshalJSON()
		if err != nil {
			return nil, err
		}
		response.Manifests = append(response.Manifests, string(data))
	}
	return response, nil
}

// ManagedResources shows what the Application wants and what is there, by the commit of its last
// comparison.
func (a *applications) ManagedResources(ctx context.Context, query *application.ResourcesQuery) (*application.ManagedResourcesResponse, error) {
	app, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetApplicationName())
	if err != nil {
		return nil, err
	}
	compared := app.get().Status.Sync.Revision
	if compared == "" {
		return &application.ManagedResourcesResponse{}, nil
	}
	targets, err := app.rendered.render(ctx, app.source, compared)
	if err != nil {
		return nil, err
	}
	response := &application.ManagedResourcesResponse{}
	for _, target := range targets {
		item, err := a.managed(target)
		if err != nil {
			return nil, status.Errorf(codes.Internal, "error comparing: %v", err)
		}
		if matches(query, item) {
			response.Items = append(response.Items, item)
		}
	}
	return response, nil
}

func (a *applications) managed(target *unstructured.Unstructured) (*v1alpha1.ResourceDiff, error) {
	ref := cluster.RefOf(target)
	live := a.server.cluster.Get(ref)
	result, err := diff.Diff(target, live)
	if err != nil {
		return nil, err
	}
	item := &v1alpha1.ResourceDiff{
		Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name, LiveState: "null",
		NormalizedLiveState: string(result.NormalizedLive), PredictedLiveState: string(result.PredictedLive), Modified: result.Modified,
	}
	data, err := json.Marshal(target.Object)
	item.TargetState = string(data)
	if err != nil || live == nil {
		return item, err
	}
	data, err = json.Marshal(live.Object)
	item.LiveState, item.ResourceVersion = string(data), live.GetResourceVersion()
	return item, err
}

func matches(query *application.ResourcesQuery, item *v1alpha1.ResourceDiff) bool {
	for asked, is := range map[*string]string{query.Group: item.Group, query.Kind: item.Kind, query.Namespace: item.Namespace, query.Name: item.Name} {
		if asked != nil && *asked != is {
			return false
		}
	}
	return true
}

// ResourceTree shows the Application's live objects and whose they are.
func (a *applications) ResourceTree(_ context.Context, query *application.ResourcesQuery) (*v1alpha1.ApplicationTree, error) {
	app, err := a.find(query.GetProject(), query.GetAppNamespace(), query.GetApplicationName())
	if err != nil {
		return nil, err
	}
	tree := &v1alpha1.ApplicationTree{}
	for _, live := range a.server.cluster.List() {
		if a.server.cluster.Root(live).GetLabels()[instanceLabel] == app.source.label {
			tree.Nodes = append(tree.Nodes, node(live))
		}
	}
	tree.Nodes = append(tree.Nodes, a.server.pods.podNodes(tree.Nodes)...)
	tree.Normalize()
	return tree, nil
}

func node(live *unstructured.Unstructured) v1alpha1.ResourceNode {
	gvk, created := live.GroupVersionKind(), live.GetCreationTimestamp()
	node := v1alpha1.ResourceNode{
		ResourceRef: v1alpha1.ResourceRef{
			Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: live.GetNamespace(), Name: live.GetName(), UID: string(live.GetUID()),
		},
		ResourceVersion: live.GetResourceVersion(), CreatedAt: &created, Health: resourceHealth(live),
	}
	for _, owner := range live.GetOwnerReferences() {
		group, version, _ := strings.Cut(owner.APIVersion, "/")
		node.ParentRefs = append(node.ParentRefs, v1alpha1.ResourceRef{
			Group: group, Version: version, Kind: owner.Kind, Namespace: live.GetNamespace(), Name: owner.Name, UID: string(owner.UID),
		})
	}
	return node
}
