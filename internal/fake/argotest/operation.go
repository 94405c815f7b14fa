package argotest

import (
	"context"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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
	if state.Phase == common.OperationSucceeded && len(operation.Resources) == 0 && !operation.DryRun {
		c.record(app, state)
	}
}
