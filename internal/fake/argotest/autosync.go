package argotest

import (
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
)

// autoSync begins an automated sync if the policy and the last attempt allow one, and returns the
// condition that says why not. It follows ApplicationController.autoSync.
func (c *controller) autoSync(app *v1alpha1.Application, found comparison) *v1alpha1.ApplicationCondition {
	policy := app.Spec.SyncPolicy.Automated
	if policy == nil || app.Operation != nil || found.sync.Status != v1alpha1.SyncStatusCodeOutOfSync {
		return nil
	}
	if c.projects.closed(app, false) {
		return nil // "Sync prevented by sync window", which only Argo CD's log says
	}
	operation := &v1alpha1.Operation{
		Sync:        &v1alpha1.SyncOperation{Revision: found.sync.Revision, Prune: policy.Prune, SyncOptions: app.Spec.SyncPolicy.SyncOptions},
		InitiatedBy: v1alpha1.OperationInitiator{Automated: true},
		Retry:       v1alpha1.RetryStrategy{Limit: 5},
	}
	attempted, phase := alreadyAttempted(app, found.sync.Revision)
	if attempted && !phase.Successful() {
		return &v1alpha1.ApplicationCondition{
			Type:    v1alpha1.ApplicationConditionSyncError,
			Message: "Failed sync attempt to " + found.sync.Revision + ": " + app.Status.OperationState.Message,
		}
	}
	if attempted && !policy.SelfHeal {
		return nil
	}
	if attempted && !c.heal(app, operation, found.resources) {
		return nil
	}
	// Somebody else's operation came first: then this one is not needed.
	_, _ = c.app.setOperation(operation)
	return nil
}

// alreadyAttempted reports whether the last operation synced this commit of this source.
func alreadyAttempted(app *v1alpha1.Application, commit string) (bool, operationPhase) {
	state := app.Status.OperationState
	if state == nil || state.Operation.Sync == nil || state.SyncResult == nil || state.SyncResult.Revision != commit {
		return false, ""
	}
	source := app.Spec.GetSource()
	return source.Equals(&state.SyncResult.Source), state.Phase
}

// By default Argo CD heals at once, then waits 2 s, 6 s, 18 s and so on up to 5 min, and forgets its
// attempts when a sync has held for 330 s.
const (
	healBackoff  = 2 * time.Second
	healFactor   = 3
	healCap      = 5 * time.Minute
	healCooldown = 330 * time.Second
)

// healDelay is how long after a sync the next attempt to undo a live change waits.
func healDelay(attempts int64) time.Duration {
	if attempts == 0 {
		return 0
	}
	delay := healBackoff
	for range min(attempts-1, 10) {
		delay *= healFactor
	}
	return min(delay, healCap)
}

// heal makes operation one that undoes a live change, or asks for a comparison later.
func (c *controller) heal(app *v1alpha1.Application, operation *v1alpha1.Operation, resources []v1alpha1.ResourceStatus) bool {
	attempts := app.Status.OperationState.Operation.Sync.SelfHealAttemptsCount
	if finished := app.Status.OperationState.FinishedAt; finished != nil {
		since := c.clock.Now().Sub(finished.Time)
		if since >= healCooldown && app.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced {
			attempts = 0
		}
		if wait := healDelay(attempts) - since; wait > 0 {
			c.delayed = c.clock.After(wait)
			return false
		}
	}
	operation.Sync.SelfHealAttemptsCount = attempts + 1
	for _, resource := range resources {
		if resource.Status != v1alpha1.SyncStatusCodeSynced {
			operation.Sync.Resources = append(operation.Sync.Resources, v1alpha1.SyncOperationResource{
				Group: resource.Group, Kind: resource.Kind, Name: resource.Name,
			})
		}
	}
	return true
}
