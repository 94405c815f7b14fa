package argo

import (
	"context"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
)

// stuckAfter is how long an automated application may stand out of sync at our commit
// with no operation before Await syncs it. Argo CD can forget a commit that arrived
// while another operation ran (https://github.com/argoproj/argo-cd/issues/27875).
const stuckAfter = 10 * time.Second

// How long a sync that restores may come to nothing before it is terminated: a hook before it, or an
// object of an earlier wave, may never end. In a short wait it is half of that, and at least what syncs
// may well need.
const (
	hangsAfter  = 2 * time.Minute
	hangsNoLess = 30 * time.Second
)

// hangsWithin is that for a wait.
func hangsWithin(ctx context.Context) time.Duration {
	end, limited := ctx.Deadline()
	if !limited {
		return hangsAfter
	}
	return max(hangsNoLess, min(hangsAfter, time.Until(end)/2))
}

// A command is what Await may ask of Argo CD.
type command string

const (
	nothing   command = ""
	syncNow   command = "sync"      // where auto-sync is off
	syncStuck command = "sync it"   // where auto-sync forgot, and no sync window is closed
	syncHand  command = "by hand"   // the same for what rolls back, also where a closed window permits a sync by hand
	syncOurs  command = "sync ours" // the Service alone, as a sync of all brings back what others have rolled back, deploys what waits beside it, or does not come to it
	terminate command = "terminate" // a sync of an older commit that never will succeed, or is rolled back, or of one that restores and is held up, or that such a one waits behind
)

// nextCommand decides whether Argo CD needs help, after the application has stood still for
// the given time; an operation that has done so for the limit hangs. It never touches an operation
// that a person started, unless that syncs what is rolled back, or is to restore and does not come to it.
func nextCommand(in Intent, ob Observed, unchanged, limit time.Duration) command {
	app := ob.App
	if app == nil || !ob.Relation.ours() {
		return nothing
	}
	state := app.Status.OperationState
	held := heldUp(in, ob) && ob.Barred == ""
	if state != nil && !state.Phase.Completed() {
		hangs := unchanged >= limit
		late := failsAgain(state) || hangs
		behind := in.Restores && hangs && state.Operation.InitiatedBy.Automated && !concerned(in, ob)
		if ob.RolledBack || blocks(in, ob) || held && late || behind {
			return terminate
		}
		return nothing
	}
	if held && app.Operation == nil {
		return syncOurs
	}
	ours := serviceStatus(in, app)
	switch {
	case app.Operation != nil, app.Status.Sync.Status != v1alpha1.SyncStatusCodeOutOfSync && !failedEarlier(in, ob), applied(in, ob), appliedBeside(in, ob), mustNotSync(in, ob) != "":
		return nothing
	case len(ob.Moved.Beside) > 0 && ours != nil && ours.Status == v1alpha1.SyncStatusCodeSynced:
		return nothing
	case len(ob.Moved.Beside) > 0:
		return syncOurs
	case !Automated(app) && in.Restores && len(OutOfSyncBeside(app, in.Service)) > 0: // which deploys neither what waits there nor undoes anything
		return syncOurs
	case !Automated(app):
		return syncNow
	case unchanged >= stuckAfter && in.Restores:
		return syncHand
	case unchanged >= stuckAfter:
		return syncStuck
	}
	return nothing
}

// mustNotSync is why the intent is not to be synced; empty: it is. What restores brings
// nothing back beside the Service.
func mustNotSync(in Intent, ob Observed) string {
	if in.Restores {
		return ob.Moved.Service
	}
	return ob.Moved.Why(in.App)
}

// blocks tells whether the running operation is Argo CD's own, for another commit than
// the one compared, and only retries what a webhook, a policy or a schema forbids. Argo CD
// does not start on a later commit before it has used up those retries
// (https://github.com/argoproj/argo-cd/issues/11494).
func blocks(in Intent, ob Observed) bool {
	state := ob.App.Status.OperationState
	revision := syncRevision(in, ob.App)
	return state.Operation.InitiatedBy.Automated && state.Phase == common.OperationRunning &&
		state.RetryCount > 0 && Denied(state.Message) != "" &&
		revision != "" && revision != compared(in, ob) && revision != in.Commit
}

// uncompared tells whether a condition is why Argo CD could not compare.
func uncompared(c v1alpha1.ApplicationCondition) bool {
	return c.Type == v1alpha1.ApplicationConditionComparisonError || c.Type == v1alpha1.ApplicationConditionInvalidSpecError ||
		c.Type == v1alpha1.ApplicationConditionUnknownError
}

// Uncheckable tells whether a condition's message says that Argo CD cannot check the repository
// out, which it does before it renders anything: no later commit becomes live then but one that
// takes away what the message names. What it cannot fetch is something else, and may pass.
// https://github.com/argoproj/argo-cd/blob/v2.14.21/reposerver/repository/repository.go#L392-L408
// https://github.com/argoproj/argo-cd/blob/v2.14.21/util/git/client.go#L474-L501
func Uncheckable(message string) bool {
	for _, text := range []string{"repository contains out-of-bounds symlinks", "failed to checkout ", "failed to update submodules"} {
		if strings.Contains(message, text) {
			return true
		}
	}
	return false
}
