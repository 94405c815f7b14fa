package argotest

import (
	"context"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/acme/knative-promote/internal/fake/argotest/internal/cluster"
)

type operationPhase = common.OperationPhase

var errOperationInProgress = status.Error(codes.FailedPrecondition, "another operation is already in progress")

// operate runs the Application's operations, one at a time.
func (c *controller) operate(ctx context.Context) {
	events, stop := c.app.watch()
	defer stop()
	var retry <-chan time.Time
	for { // first for what was begun before anybody watched
		c.storing.Lock()
		app := c.app.get()
		c.storing.Unlock()
		if app.Operation != nil {
			if wait := c.process(ctx, app); wait > 0 {
				retry = c.clock.After(wait)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-events:
		case <-retry:
		}
	}
}

// process does what is due of the Application's operation and returns how long its next retry is
// away. It follows ApplicationController.processRequestedAppOperation.
func (c *controller) process(ctx context.Context, app *v1alpha1.Application) time.Duration {
	state := app.Status.OperationState.DeepCopy()
	switch {
	case state == nil:
		state = &v1alpha1.OperationState{Phase: common.OperationRunning, Operation: *app.Operation, StartedAt: c.now()}
		c.setState(state)
	case state.Phase.Completed():
		return 0
	case state.FinishedAt != nil && state.Phase != common.OperationTerminating:
		retryAt, err := state.Operation.Retry.NextRetryAt(state.FinishedAt.Time, state.RetryCount)
		if err == nil {
			if wait := retryAt.Sub(c.clock.Now()); wait > 0 {
				return wait
			}
		}
		state.FinishedAt = nil
		c.setState(state)
		state.SyncResult = nil
	}
	terminating := state.Phase == common.OperationTerminating
	c.sync(ctx, app, state)
	if ctx.Err() != nil {
		return 0
	}
	c.finish(state, terminating)
	c.setState(state)
	return 0 // the change of the state comes back as an event, and with it the wait for a retry
}

// finish decides what becomes of an operation after an attempt.
func (c *controller) finish(state *v1alpha1.OperationState, terminating bool) {
	if state.Phase != common.OperationFailed && state.Phase != common.OperationError {
		return
	}
	if terminating || state.RetryCount >= state.Operation.Retry.Limit {
		if state.RetryCount > 0 {
			state.Message = fmt.Sprintf("%s (retried %d times).", state.Message, state.RetryCount)
		}
		return
	}
	now := c.now()
	state.FinishedAt = &now
	retryAt, err := state.Operation.Retry.NextRetryAt(now.Time, state.RetryCount)
	if err != nil {
		state.Message = fmt.Sprintf("%s (failed to retry: %v)", state.Message, err)
		return
	}
	state.Phase = common.OperationRunning
	state.RetryCount++
	state.Message = fmt.Sprintf("%s due to application controller sync timeout. Retrying attempt #%d at %s.",
		state.Message, state.RetryCount, retryAt.Format(time.Kitchen))
}

// setState stores the operation's state and ends the operation when it is complete: whoever sees
// that finds the comparison asked for that follows. A termination that came meanwhile is not undone.
func (c *controller) setState(state *v1alpha1.OperationState) {
	// The change cannot fail.
	_, _ = c.app.update(func(app *v1alpha1.Application) error {
		if state.Phase.Completed() {
			now := c.now()
			state.FinishedAt = &now
			app.Operation = nil
			c.request(withForcedResolve)
		} else if current := app.Status.OperationState; current != nil && current.Phase == common.OperationTerminating {
			state.Phase, state.Message = common.OperationTerminating, "operation is terminating"
		}
		app.Status.OperationState = state.DeepCopy()
		return nil
	})
}

// sync applies the operation's commit once. It follows appStateManager.SyncAppState.
func (c *controller) sync(ctx context.Context, app *v1alpha1.Application, state *v1alpha1.OperationState) {
	if state.Phase == common.OperationTerminating {
		state.Phase, state.Message = common.OperationFailed, "Operation terminated"
		return
	}
	operation := state.Operation.Sync
	revision := operation.Revision
	if revision == "" {
		revision = app.Spec.GetSource().TargetRevision
	}
	state.SyncResult = &v1alpha1.SyncOperationResult{Source: app.Spec.GetSource()}
	found := c.compare(ctx, app, revision)
	if c.clock.Sleep(ctx, c.config.Compare/2) != nil {
		return
	}
	state.SyncResult.Revision = found.sync.Revision
	if len(found.conditions) > 0 {
		state.Phase, state.Message = common.OperationError, found.conditions[0].Type+": "+found.conditions[0].Message
		return
	}
	c.applyAll(ctx, state, found)
	if state.Phase == common.OperationSucceeded && len(operation.Resources) == 0 {
		c.record(app, state)
	}
}

// applyAll applies the manifests that the operation covers and prunes what is in none.
func (c *controller) applyAll(ctx context.Context, state *v1alpha1.OperationState, found comparison) {
	operation := state.Operation.Sync
	state.Phase, state.Message = common.OperationSucceeded, "successfully synced (all tasks run)"
	if len(operation.Resources) == 0 && !operation.DryRun && !c.hooksPass(state, found, common.HookTypePreSync) {
		return
	}
	for _, target := range found.targets {
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
	if state.Phase == common.OperationSucceeded && len(operation.Resources) == 0 && !operation.DryRun && !c.hooksPass(state, found, common.HookTypePostSync) {
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
func (c *controller) hooksPass(state *v1alpha1.OperationState, found comparison, kind common.HookType) bool {
	for _, target := range found.targets {
		if target.GetAnnotations()["argocd.argoproj.io/hook"] != string(kind) || !c.cluster.Fails(target) {
			continue
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
