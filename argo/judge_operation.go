package argo

import (
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/internal/oneline"
)

// judgeOperation looks at the sync that runs or ran last.
func judgeOperation(in Intent, ob Observed) *Verdict {
	app, state := ob.App, ob.App.Status.OperationState
	if state == nil {
		if app.Operation != nil {
			return wait("a sync is about to start")
		}
		return nil
	}
	revision, message := syncRevision(in, app), oneline.Brief(state.Message)
	concerns := concerned(in, ob)
	switch {
	case failedEarlier(in, ob) && mustNotSync(in, ob) == "":
		return troubled("attempt", "the sync of %s had failed before: %s", short(revision), message)
	case concerns && refusal(in, state) != "" && (state.Phase.Completed() || !in.Restores): // what restores waits for the next attempt
		return unapplied("the Service was refused: %s", refusal(in, state))
	case heldUp(in, ob) && ob.Barred == "" && (state.Phase.Completed() || failsAgain(state)):
		return wait("the sync of %s fails before it comes to the Service, which is to be synced alone%s", short(revision), after(message))
	case concerns && in.Alone && failsAgain(state) && !applies(in, ob):
		return unapplied("the sync of %s fails: %s%s", short(revision), message, barred(in, ob))
	case concerns && in.Restores && applies(in, ob):
		return nil // the rest is not what users have back
	case !state.Phase.Completed() && syncedByAnother(in, ob):
		return nil
	case state.Phase == common.OperationTerminating:
		return wait("a sync of %s is being terminated", short(revision))
	case !state.Phase.Completed() && concerns:
		return wait("syncing %s%s", short(revision), after(message))
	case !state.Phase.Completed() && revision == "":
		return wait("a sync is running%s", after(message))
	case !state.Phase.Completed():
		return wait("another sync is running, of %s%s", short(revision), after(message))
	case app.Operation != nil:
		return wait("a sync is about to start")
	case concerns && !state.Phase.Successful() && !syncedByAnother(in, ob) && !onlyNeighbours(in, ob):
		if !applies(in, ob) {
			return unapplied("the sync of %s failed: %s%s", short(revision), message, barred(in, ob))
		}
		return failed("the sync of %s failed: %s", short(revision), message)
	case app.Status.ReconciledAt == nil || state.FinishedAt != nil && app.Status.ReconciledAt.Before(state.FinishedAt):
		return wait("Argo CD has not compared the application since the last sync")
	}
	return nil
}

// heldUp tells whether the last operation has not applied a Service that is to be restored, for
// what comes before it: objects of an earlier wave, hooks, or an object that makes Argo CD begin
// nothing. A sync of the Service alone asks none of those.
func heldUp(in Intent, ob Observed) bool {
	state := ob.App.Status.OperationState
	return in.Restores && state != nil && concerned(in, ob) && !state.Phase.Successful() && state.Phase != common.OperationTerminating &&
		!ofServiceAlone(in, state) && !selective(in, state) && refusal(in, state) == "" && !applies(in, ob) &&
		!failedEarlier(in, ob) && mustNotSync(in, ob) == ""
}

// barred is why the Service is not synced alone, and by which command it is.
func barred(in Intent, ob Observed) string {
	if ob.Barred == "" || !heldUp(in, ob) {
		return ""
	}
	return "; " + ob.Barred
}

// ofServiceAlone tells whether an operation syncs the Service and nothing else.
func ofServiceAlone(in Intent, state *v1alpha1.OperationState) bool {
	if state.Operation.Sync == nil || len(state.Operation.Sync.Resources) != 1 {
		return false
	}
	only := state.Operation.Sync.Resources[0]
	return IsKnativeService(only.Group, only.Kind) && only.Name == in.Service
}

// concerned tells whether the last operation was for the commit, or what Argo CD compared.
func concerned(in Intent, ob Observed) bool {
	revision := syncRevision(in, ob.App)
	return revision != "" && (revision == in.Commit || revision == compared(in, ob))
}

// selective tells whether an operation syncs other objects alone, as healing does.
func selective(in Intent, state *v1alpha1.OperationState) bool {
	return state.Operation.Sync != nil && len(state.Operation.Sync.Resources) > 0 &&
		!slices.ContainsFunc(state.Operation.Sync.Resources, func(r v1alpha1.SyncOperationResource) bool {
			return IsKnativeService(r.Group, r.Kind) && r.Name == in.Service
		})
}

// failedEarlier tells whether such an operation had failed before the wait began.
func failedEarlier(in Intent, ob Observed) bool {
	return ob.Earlier && concerned(in, ob) && !ob.App.Status.OperationState.Phase.Successful() && !onlyNeighbours(in, ob)
}

// onlyNeighbours tells whether the last operation was for the commit, has applied the Service
// or had nothing to apply of it, and failed at other objects alone, which no commit of a
// promotion changes. What a hook says is about the sync as a whole, but where that restores.
func onlyNeighbours(in Intent, ob Observed) bool {
	state, status := ob.App.Status.OperationState, serviceStatus(in, ob.App)
	if state == nil || !state.Phase.Failed() || state.SyncResult == nil || !concerned(in, ob) {
		return false
	}
	if selective(in, state) || in.Restores && status != nil && status.Status == v1alpha1.SyncStatusCodeSynced { // what a hook tests is not what users have back
		return true
	}
	// With ApplyOutOfSyncOnly, what an attempt before has applied is in no result.
	applied := status != nil && status.Status == v1alpha1.SyncStatusCodeSynced
	for _, r := range state.SyncResult.Resources {
		if isService(in.Service, r) {
			applied = r.Status == common.ResultCodeSynced
		}
	}
	failed, own := FailedObjects(in.Service, state)
	return applied && len(failed) > 0 && !own
}

// maxAttempts is how often a sync fails before the Service alone is synced, or else the traffic
// alone is tried.
const maxAttempts = 2

// failsAgain tells whether an operation has failed so often, and waits for the time at which Argo CD
// tries it once more.
func failsAgain(state *v1alpha1.OperationState) bool {
	return state.Phase == common.OperationRunning && state.RetryCount >= maxAttempts && state.FinishedAt != nil
}

// applies tells whether the last operation has applied the Service, as far as its results tell, or
// had nothing to apply of it: with ApplyOutOfSyncOnly an attempt before may have.
func applies(in Intent, ob Observed) bool {
	state, status := ob.App.Status.OperationState, serviceStatus(in, ob.App)
	if status != nil && status.Status == v1alpha1.SyncStatusCodeSynced && compared(in, ob) == in.Commit {
		return true
	}
	return state.SyncResult != nil && slices.ContainsFunc(state.SyncResult.Resources, func(r *v1alpha1.ResourceResult) bool {
		return isService(in.Service, r) && r.Status == common.ResultCodeSynced
	})
}

// appliedBeside tells whether the last operation has applied the Service beside what it failed
// at: to sync once more brings nothing.
func appliedBeside(in Intent, ob Observed) bool {
	return onlyNeighbours(in, ob) && !selective(in, ob.App.Status.OperationState)
}

// FailedObjects are the results of the objects that an operation failed at. Own is whether one
// of them is the Service or a hook, which stands for the sync as a whole.
func FailedObjects(service string, state *v1alpha1.OperationState) (failed []*v1alpha1.ResourceResult, own bool) {
	for _, r := range state.SyncResult.Resources {
		if r.Status == common.ResultCodeSyncFailed || r.HookPhase.Failed() {
			failed = append(failed, r)
			own = own || r.HookType != "" || isService(service, r)
		}
	}
	return failed, own
}

// isService tells whether a result is of the Service.
func isService(service string, r *v1alpha1.ResourceResult) bool {
	return IsKnativeService(r.Group, r.Kind) && r.Name == service
}

// ofAnotherCommit tells whether the sync is somebody else's affair: the revision that Argo CD
// compared is a commit on top of ours that carries our values, and the Service is live
// as intended. A Service that Argo CD is still to change for that commit must at least
// have the intended template's name, which says what is in it.
func ofAnotherCommit(in Intent, ob Observed) bool {
	ours := serviceStatus(in, ob.App)
	return ob.Relation == Carrying && ours != nil &&
		(ours.Status == v1alpha1.SyncStatusCodeSynced || in.Revision != "" && !applied(in, ob)) &&
		judgeLive(in, ob) == nil
}

// syncedByAnother tells whether in addition the last operation is for such a commit.
func syncedByAnother(in Intent, ob Observed) bool {
	return (ob.Operation == Carrying || syncRevision(in, ob.App) == compared(in, ob)) && ofAnotherCommit(in, ob)
}

// after is a message behind a colon, if there is one.
func after(message string) string {
	if message == "" {
		return ""
	}
	return ": " + message
}

// syncRevision is the revision that the last operation applied or is to apply.
func syncRevision(in Intent, app *v1alpha1.Application) string {
	state := app.Status.OperationState
	switch {
	case state == nil:
		return ""
	case state.SyncResult != nil:
		return revisionOf(in, app, state.SyncResult.Revision, state.SyncResult.Revisions)
	case state.Operation.Sync != nil:
		return revisionOf(in, app, state.Operation.Sync.Revision, state.Operation.Sync.Revisions)
	}
	return ""
}

// refusal is what Kubernetes says against our Service, for which no retry of the same
// commit helps.
func refusal(in Intent, state *v1alpha1.OperationState) string {
	if state.Phase == common.OperationSucceeded || state.SyncResult == nil {
		return ""
	}
	for _, r := range state.SyncResult.Resources {
		if isService(in.Service, r) {
			if words := Denied(r.Message); words != "" {
				return oneline.Brief(words)
			}
		}
	}
	return ""
}

// Denied are the words of an admission webhook, a ValidatingAdmissionPolicy or a schema
// against an object. A webhook that cannot be reached ("failed calling webhook") has
// none. Before them stands a temporary file's name.
func Denied(message string) string {
	if words := policyDenied.FindString(message); words != "" {
		return words
	}
	if at := strings.Index(message, "admission webhook"); at >= 0 && strings.Contains(message[at:], "denied the request") {
		return message[at:]
	}
	return invalid.FindString(message)
}

// policyDenied is how the API server says that a policy denies an object.
// https://github.com/kubernetes/kubernetes/blob/v1.31.0/staging/src/k8s.io/apiserver/pkg/admission/plugin/policy/validating/dispatcher.go
var policyDenied = regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '[^']+'(?: with binding '[^']+')? denied request: .*`)

// invalid is how https://pkg.go.dev/k8s.io/apimachinery/pkg/api/errors#NewInvalid begins.
var invalid = regexp.MustCompile(`(?s)[\w.-]+ "[^"]+" is invalid: .*`)
