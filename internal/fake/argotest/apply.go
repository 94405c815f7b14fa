package argotest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

// applyAll applies the manifests that the operation covers and prunes what is in none.
func (c *controller) applyAll(ctx context.Context, state *v1alpha1.OperationState, found comparison) {
	operation := state.Operation.Sync
	state.Phase, state.Message = common.OperationSucceeded, "successfully synced (all tasks run)"
	if !valid(state, found.targets) {
		return
	}
	if len(operation.Resources) == 0 && !operation.DryRun && !c.hooksPass(ctx, state, found, common.HookTypePreSync) {
		return
	}
	targets := slices.SortedStableFunc(slices.Values(found.targets), func(a, b *unstructured.Unstructured) int { return wave(a) - wave(b) })
	for i, target := range targets {
		if i > 0 && wave(targets[i-1]) != wave(target) && state.Phase != common.OperationSucceeded {
			return // no wave begins after one that has failed
		}
		if operation.DryRun || !covers(operation, cluster.RefOf(target)) {
			continue
		}
		if operation.SyncOptions.HasOption("ApplyOutOfSyncOnly=true") && unmodified(found, target.GetKind(), target.GetName()) {
			continue
		}
		result := &v1alpha1.ResourceResult{
			Group: target.GroupVersionKind().Group, Version: target.GroupVersionKind().Version, Kind: target.GetKind(),
			Namespace: target.GetNamespace(), Name: target.GetName(),
			Status: common.ResultCodeSynced, HookPhase: common.OperationRunning, SyncPhase: common.SyncPhaseSync,
		}
		state.SyncResult.Resources = append(state.SyncResult.Resources, result)
		message, err := c.cluster.Apply(ctx, target)
		result.Message = message
		if err != nil {
			result.Message, result.Status, result.HookPhase = err.Error(), common.ResultCodeSyncFailed, common.OperationFailed
			state.Phase, state.Message = common.OperationFailed, "one or more objects failed to apply, reason: "+err.Error()
		}
	}
	if state.Phase == common.OperationSucceeded && len(operation.Resources) == 0 && !operation.DryRun && !c.hooksPass(ctx, state, found, common.HookTypePostSync) {
		return
	}
	if state.Phase == common.OperationSucceeded && operation.Prune && !operation.DryRun {
		for _, extra := range c.extra(found.targets) {
			c.cluster.Delete(cluster.RefOf(extra))
		}
	}
}

// hooksPass runs the hooks before a sync, where one that fails keeps everything from being applied, or
// those after it. A sync of some objects alone runs none.
func (c *controller) hooksPass(ctx context.Context, state *v1alpha1.OperationState, found comparison, kind common.HookType) bool {
	for _, target := range found.targets {
		if target.GetAnnotations()["argocd.argoproj.io/hook"] != string(kind) {
			continue
		}
		switch c.cluster.HookEndOf(target) {
		case cluster.HookSucceeds:
			continue
		case cluster.HookHangs:
			_ = c.clock.Sleep(ctx, 2*time.Second) // it is looked at again then
			state.Phase, state.Message = common.OperationRunning, "waiting for completion of hook batch/Job/"+target.GetName()
			return false
		}
		state.Phase, state.Message = common.OperationFailed, "one or more synchronization tasks completed unsuccessfully"
		state.SyncResult.Resources = append(state.SyncResult.Resources, &v1alpha1.ResourceResult{
			Group: "batch", Version: "v1", Kind: target.GetKind(), Namespace: target.GetNamespace(), Name: target.GetName(),
			HookType: kind, HookPhase: common.OperationFailed, SyncPhase: common.SyncPhase(kind),
			Message: "Job has reached the specified backoff limit",
		})
		return false
	}
	return true
}

// valid notes an object of a kind that the cluster does not have, for which a sync begins nothing.
// https://github.com/argoproj/gitops-engine/blob/v0.7.3/pkg/sync/sync_context.go
func valid(state *v1alpha1.OperationState, targets []*unstructured.Unstructured) bool {
	for _, target := range targets {
		ref := cluster.RefOf(target)
		if ref.Group != "monitoring.coreos.com" || !covers(state.Operation.Sync, ref) {
			continue
		}
		state.SyncResult.Resources = append(state.SyncResult.Resources, &v1alpha1.ResourceResult{
			Group: ref.Group, Version: target.GroupVersionKind().Version, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name,
			Status: common.ResultCodeSyncFailed, SyncPhase: common.SyncPhaseSync,
			Message: fmt.Sprintf("The Kubernetes API could not find %s/%s for requested resource %s/%s. Make sure the %q CRD is installed on the destination cluster.", ref.Group, ref.Kind, ref.Namespace, ref.Name, ref.Kind),
		})
		state.Phase, state.Message = common.OperationFailed, "one or more synchronization tasks are not valid (due to the CRD not being installed)"
		return false
	}
	return true
}

// wave is the sync wave of an object.
func wave(o *unstructured.Unstructured) int {
	n, _ := strconv.Atoi(o.GetAnnotations()["argocd.argoproj.io/sync-wave"])
	return n
}

func covers(operation *v1alpha1.SyncOperation, ref cluster.Ref) bool {
	for _, resource := range operation.Resources {
		if resource.Group == ref.Group && resource.Kind == ref.Kind && resource.Name == ref.Name {
			return true
		}
	}
	return len(operation.Resources) == 0
}

// record adds a successful full sync to the Application's history.
func (c *controller) record(app *v1alpha1.Application, state *v1alpha1.OperationState) {
	started := state.StartedAt
	// The change cannot fail.
	_, _ = c.app.update(func(app *v1alpha1.Application) error {
		id := int64(0)
		if n := len(app.Status.History); n > 0 {
			id = app.Status.History[n-1].ID + 1
		}
		app.Status.History = append(app.Status.History, v1alpha1.RevisionHistory{
			ID: id, Revision: state.SyncResult.Revision, Source: state.SyncResult.Source,
			DeployStartedAt: &started, DeployedAt: c.now(), InitiatedBy: state.Operation.InitiatedBy,
		})
		if extra := len(app.Status.History) - 10; extra > 0 {
			app.Status.History = app.Status.History[extra:]
		}
		return nil
	})
}

// unmodified tells whether an object is as Git has it, so that a sync with ApplyOutOfSyncOnly
// passes over it, in its results too.
func unmodified(found comparison, kind, name string) bool {
	for _, r := range found.resources {
		if r.Kind == kind && r.Name == name {
			return r.Status == v1alpha1.SyncStatusCodeSynced
		}
	}
	return false
}
