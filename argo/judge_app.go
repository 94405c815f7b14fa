package argo

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
)

// judgeIdentity makes sure that this is the Application that the wait is about.
func judgeIdentity(in Intent, ob Observed) *Verdict {
	app := ob.App
	switch {
	case app == nil:
		return wait("application %s has not been read yet", in.App)
	case checkApplication(in.App, app) != nil:
		return failed("%s", checkApplication(in.App, app))
	case app.DeletionTimestamp != nil:
		return failed("application %s is being deleted", in.App)
	}
	index, err := SourceIndex(app, in.Source)
	if err != nil {
		return failed("%s", err)
	}
	to, now := app.Status.Sync.ComparedTo, app.Spec.GetSources()[index]
	before := &to.Source
	if app.Spec.HasMultipleSources() && index < len(to.Sources) {
		before = &to.Sources[index]
	}
	if before.RepoURL != "" && !before.Equals(&now) {
		return wait("Argo CD has not compared the application's changed source yet")
	}
	return nil
}

// judgeConditions looks for errors of Argo CD itself.
func judgeConditions(in Intent, ob Observed) *Verdict {
	for _, c := range ob.App.Status.Conditions {
		switch {
		case uncompared(c) && ob.Relation == Displaced && compared(in, ob) == "":
			return &Verdict{State: Superseded, Reason: fmt.Sprintf("the branch does not carry the values of %s any more", short(in.Commit))}
		case uncompared(c), c.Type == v1alpha1.ApplicationConditionDeletionError:
			v := troubled("comparison", "Argo CD reports %s: %s", c.Type, clean(c.Message))
			v.Intended = uncompared(c) && judgeLive(in, ob) == nil
			return v
		case c.Type == v1alpha1.ApplicationConditionSharedResourceWarning && strings.HasPrefix(c.Message, "Service/"+in.Service+" "):
			return troubled("shared", "two applications manage the Service: %s", clean(c.Message))
		}
	}
	return nil
}

// judgeRelation looks at the commit that Argo CD compared.
func judgeRelation(in Intent, ob Observed) *Verdict {
	revision := compared(in, ob)
	switch {
	case revision == "":
		return wait("Argo CD has not compared the application with Git yet")
	case ob.Relation == Displaced:
		return &Verdict{State: Superseded, Reason: fmt.Sprintf("%s took the place of %s and does not carry its values", short(revision), short(in.Commit))}
	case !ob.Relation.ours():
		return wait("Argo CD is at %s and has not seen %s yet", short(revision), short(in.Commit))
	}
	return nil
}

// compared is the revision of the intent's source that Argo CD compared last. The
// operation's revision is not used for this: a commit that changes nothing has none.
// After a comparison that failed there is none, for which Argo CD 3 shows the branch
// (https://github.com/argoproj/argo-cd/blob/v3.5.7/controller/state.go#L655).
func compared(in Intent, ob Observed) string {
	revision := revisionOf(in, ob.App, ob.App.Status.Sync.Revision, ob.App.Status.Sync.Revisions)
	if _, err := hex.DecodeString(revision); err != nil || len(revision) != len(in.Commit) {
		return ""
	}
	return revision
}

// revisionOf picks the revision of the intent's source.
func revisionOf(in Intent, app *v1alpha1.Application, single string, multiple []string) string {
	if !app.Spec.HasMultipleSources() {
		return single
	}
	index, err := SourceIndex(app, in.Source)
	if err != nil || index >= len(multiple) {
		return ""
	}
	return multiple[index]
}

// judgeOperation looks at the sync that runs or ran last.
func judgeOperation(in Intent, ob Observed) *Verdict {
	app, state := ob.App, ob.App.Status.OperationState
	if state == nil {
		if app.Operation != nil {
			return wait("a sync is about to start")
		}
		return nil
	}
	revision, message := syncRevision(in, app), clean(state.Message)
	concerns := revision != "" && (revision == in.Commit || revision == compared(in, ob))
	switch {
	case concerns && refusal(in, state) != "":
		return failed("the Service was refused: %s", refusal(in, state))
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
	case concerns && !state.Phase.Successful() && !syncedByAnother(in, ob):
		return failed("the sync of %s failed: %s", short(revision), message)
	case app.Status.ReconciledAt == nil || state.FinishedAt != nil && app.Status.ReconciledAt.Before(state.FinishedAt):
		return wait("Argo CD has not compared the application since the last sync")
	}
	return nil
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
		if IsKnativeService(r.Group, r.Kind) && r.Name == in.Service {
			if words := Denied(r.Message); words != "" {
				return clean(words)
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

// judgeSync looks at the sync status, see Judge for what may be out of sync.
func judgeSync(in Intent, ob Observed) *Verdict {
	app := ob.App
	ours := serviceStatus(in, app)
	switch {
	case app.Status.Sync.Status == v1alpha1.SyncStatusCodeUnknown:
		return troubled("comparison", "Argo CD does not know whether the application is in sync")
	case ours == nil:
		return troubled("missing", "application %s at %s contains no Knative Service %s", in.App, short(compared(in, ob)), in.Service)
	case ours.RequiresPruning:
		return troubled("missing", "application %s at %s would prune the Service %s", in.App, short(compared(in, ob)), in.Service)
	case app.Status.Sync.Status == v1alpha1.SyncStatusCodeSynced:
		return nil
	case ours.Status == v1alpha1.SyncStatusCodeSynced && (onlyPruning(app) || applied(in, ob) || len(ob.Moved.Beside) > 0), ofAnotherCommit(in, ob):
		return nil
	case applied(in, ob):
		return troubled("drift", "Argo CD applied %s, yet the live Service still differs from it", short(compared(in, ob)))
	}
	if message := condition(app, v1alpha1.ApplicationConditionSyncError); message != "" {
		return troubled("sync", "Argo CD does not sync: %s", message)
	}
	if why := mustNotSync(in, ob); why != "" {
		return failed("%s", why)
	}
	if !automated(app) {
		return wait("the application is out of sync at %s and does not sync by itself%s", short(compared(in, ob)), outOfSync(in, app))
	}
	return wait("the application is out of sync at %s%s", short(compared(in, ob)), outOfSync(in, app))
}

// outOfSync names what an Application has out of sync, so that a person sees whether it is
// the Service or a neighbour that holds it up.
func outOfSync(in Intent, app *v1alpha1.Application) string {
	const most = 3
	var names []string
	ours := serviceStatus(in, app)
	for i, r := range app.Status.Resources {
		switch {
		case r.Status != v1alpha1.SyncStatusCodeOutOfSync || r.RequiresPruning:
		case &app.Status.Resources[i] == ours:
			names = slices.Insert(names, 0, "the Service "+in.Service)
		default:
			names = append(names, clean(r.Kind+"/"+r.Name))
		}
	}
	rest := ""
	if len(names) > most {
		rest = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	if len(names) > 0 && ours != nil && ours.Status == v1alpha1.SyncStatusCodeSynced {
		rest += ", but not the Service"
	}
	return after(strings.Join(names, ", ") + rest)
}

func serviceStatus(in Intent, app *v1alpha1.Application) *v1alpha1.ResourceStatus {
	for i, r := range app.Status.Resources {
		if IsKnativeService(r.Group, r.Kind) && r.Name == in.Service && !r.Hook {
			return &app.Status.Resources[i]
		}
	}
	return nil
}

// onlyPruning tells whether all that is out of sync waits to be pruned.
func onlyPruning(app *v1alpha1.Application) bool {
	for _, r := range app.Status.Resources {
		if r.Status != v1alpha1.SyncStatusCodeSynced && r.Status != "" && !r.RequiresPruning {
			return false
		}
	}
	return true
}

// applied tells whether a full sync of the compared revision has succeeded.
func applied(in Intent, ob Observed) bool {
	state := ob.App.Status.OperationState
	return state != nil && state.Phase.Successful() && syncRevision(in, ob.App) == compared(in, ob) &&
		(state.Operation.Sync == nil || len(state.Operation.Sync.Resources) == 0)
}

func condition(app *v1alpha1.Application, kind v1alpha1.ApplicationConditionType) string {
	for _, c := range app.Status.Conditions {
		if c.Type == kind {
			return clean(c.Message)
		}
	}
	return ""
}

// automated tells whether Argo CD syncs by itself.
func automated(app *v1alpha1.Application) bool {
	return app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.Automated != nil
}
