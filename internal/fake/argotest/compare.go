package argotest

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v2/util/lua"
	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/health"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// comparison is what a comparison of Git with the cluster found.
type comparison struct {
	sync       v1alpha1.SyncStatus
	health     v1alpha1.HealthStatus
	resources  []v1alpha1.ResourceStatus
	targets    []*unstructured.Unstructured
	conditions []v1alpha1.ApplicationCondition
}

// compare compares the overlay at a revision with the live objects. A revision that cannot be
// rendered is a condition and not an error, as in Argo CD.
func (c *controller) compare(ctx context.Context, app *v1alpha1.Application, revision string) comparison {
	result := comparison{sync: v1alpha1.SyncStatus{
		Status: v1alpha1.SyncStatusCodeSynced,
		ComparedTo: v1alpha1.ComparedTo{
			Source: app.Spec.GetSource(), Destination: app.Spec.Destination, IgnoreDifferences: app.Spec.IgnoreDifferences,
		},
	}}
	commit, targets, err := c.target(ctx, revision)
	if err != nil {
		result.sync.Status = v1alpha1.SyncStatusCodeUnknown
		result.conditions = []v1alpha1.ApplicationCondition{{
			Type: v1alpha1.ApplicationConditionComparisonError,
			Message: fmt.Sprintf("Failed to load target state: failed to generate manifest for source 1 of 1: "+
				"rpc error: code = Unknown desc = %v", err),
		}}
	}
	result.sync.Revision, result.targets = commit, targets
	for _, target := range targets {
		result.add(resourceStatus(target, c.cluster.Get(cluster.RefOf(target))))
	}
	for _, live := range c.extra(targets) {
		status := resourceStatus(live, live)
		status.Status, status.RequiresPruning = v1alpha1.SyncStatusCodeOutOfSync, true
		if err != nil {
			status.Status = v1alpha1.SyncStatusCodeUnknown
		}
		result.add(status)
	}
	slices.SortFunc(result.resources, func(a, b v1alpha1.ResourceStatus) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	result.health.Status = worst(result.resources)
	return result
}

// target resolves a revision and renders it.
func (c *controller) target(ctx context.Context, revision string) (string, []*unstructured.Unstructured, error) {
	commit := revision
	if !c.app.rendered.has(revision) { // else it is a commit
		resolved, err := c.app.source.resolve(ctx, revision)
		if err != nil {
			return "", nil, err
		}
		commit = resolved
	}
	targets, err := c.app.rendered.render(ctx, c.app.source, commit)
	if err != nil {
		return "", nil, err // on a manifest error the status has no revision
	}
	return commit, targets, nil
}

func (result *comparison) add(status v1alpha1.ResourceStatus) {
	result.resources = append(result.resources, status)
	if status.Status == v1alpha1.SyncStatusCodeOutOfSync && result.sync.Status == v1alpha1.SyncStatusCodeSynced {
		result.sync.Status = v1alpha1.SyncStatusCodeOutOfSync
	}
}

// extra returns live objects that carry the Application's label and are in no manifest.
func (c *controller) extra(targets []*unstructured.Unstructured) []*unstructured.Unstructured {
	wanted := map[cluster.Ref]bool{}
	for _, target := range targets {
		wanted[cluster.RefOf(target)] = true
	}
	return slices.DeleteFunc(c.cluster.List(), func(live *unstructured.Unstructured) bool {
		return wanted[cluster.RefOf(live)] || len(live.GetOwnerReferences()) > 0 ||
			live.GetLabels()[instanceLabel] != c.app.source.label
	})
}

// resourceStatus compares one object as Argo CD does: by the three-way diff of the gitops engine,
// to which fields that only the cluster set are no difference.
func resourceStatus(target, live *unstructured.Unstructured) v1alpha1.ResourceStatus {
	gvk := target.GroupVersionKind()
	status := v1alpha1.ResourceStatus{
		Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind, Namespace: target.GetNamespace(), Name: target.GetName(),
		Status: v1alpha1.SyncStatusCodeSynced,
	}
	if live == nil {
		status.Status = v1alpha1.SyncStatusCodeOutOfSync
		status.Health = &v1alpha1.HealthStatus{Status: health.HealthStatusMissing}
		return status
	}
	if result, err := diff.Diff(target, live); err != nil || result.Modified {
		status.Status = v1alpha1.SyncStatusCodeOutOfSync
	}
	status.Health = resourceHealth(live)
	return status
}

// resourceHealth asks Argo CD's own script; a kind without one has no health.
func resourceHealth(live *unstructured.Unstructured) *v1alpha1.HealthStatus {
	// The error is in the health's message.
	found, _ := health.GetResourceHealth(live, lua.ResourceHealthOverrides{})
	if found == nil {
		return nil
	}
	return &v1alpha1.HealthStatus{Status: found.Status, Message: found.Message}
}

// worst is the Application's health: the worst of its resources'. A missing resource counts only if
// its health check is built into Argo CD's code. That of Knative is a script, so an Application whose
// only Service is missing is healthy.
func worst(resources []v1alpha1.ResourceStatus) health.HealthStatusCode {
	code := health.HealthStatusHealthy
	for _, resource := range resources {
		gvk := schema.GroupVersionKind{Group: resource.Group, Version: resource.Version, Kind: resource.Kind}
		if resource.Health == nil || resource.Health.Status == health.HealthStatusMissing && health.GetHealthCheckFunc(gvk) == nil {
			continue
		}
		if health.IsWorse(code, resource.Health.Status) {
			code = resource.Health.Status
		}
	}
	return code
}
