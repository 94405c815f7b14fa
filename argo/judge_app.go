package argo

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"

	"github.com/acme/knative-promote/internal/oneline"
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

// partAway is in the message of a condition where one of Argo CD's own parts does not answer another, such as
// the repo server while it is restarted. It says nothing of the commit.
const partAway = "code = Unavailable"

// judgeConditions looks for errors of Argo CD itself.
func judgeConditions(in Intent, ob Observed) *Verdict {
	for _, c := range ob.App.Status.Conditions {
		switch {
		case uncompared(c) && ob.Relation == Displaced && compared(in, ob) == "":
			return &Verdict{State: Superseded, Reason: fmt.Sprintf("the branch does not carry the values of %s any more", short(in.Commit))}
		case uncompared(c), c.Type == v1alpha1.ApplicationConditionDeletionError:
			v := troubled("comparison", "Argo CD reports %s: %s", c.Type, oneline.Brief(c.Message))
			if Uncheckable(c.Message) {
				v.Reason += "; no commit becomes live, also not one that rolls back, before the one is reverted that brought what this names"
			}
			if strings.Contains(c.Message, partAway) {
				v.Trouble = "" // there is nothing better to do than to wait for it
			}
			v.Intended = uncompared(c) && judgeLive(in, ob) == nil
			return v
		case c.Type == v1alpha1.ApplicationConditionSharedResourceWarning && strings.HasPrefix(c.Message, "Service/"+in.Service+" "):
			return troubled("shared", "two applications manage the Service: %s", oneline.Brief(c.Message))
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
	case ours.Status == v1alpha1.SyncStatusCodeSynced && (onlyPruning(app) || applied(in, ob) || onlyNeighbours(in, ob) || in.Restores || len(ob.Moved.Beside) > 0), ofAnotherCommit(in, ob):
		return nil
	case applied(in, ob), appliedBeside(in, ob):
		return troubled("drift", "Argo CD applied %s, yet the live Service still differs from it", short(compared(in, ob)))
	}
	if message := condition(app, v1alpha1.ApplicationConditionSyncError); message != "" {
		return troubled("sync", "Argo CD does not sync: %s", message)
	}
	if why := mustNotSync(in, ob); why != "" {
		return failed("%s", why)
	}
	if !Automated(app) {
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
			names = append(names, oneline.Brief(r.Kind+"/"+r.Name))
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

// applied tells whether a sync of the compared revision has succeeded: a full one, or for what
// restores one of the Service alone.
func applied(in Intent, ob Observed) bool {
	state := ob.App.Status.OperationState
	return state != nil && state.Phase.Successful() && syncRevision(in, ob.App) == compared(in, ob) &&
		(state.Operation.Sync == nil || len(state.Operation.Sync.Resources) == 0 || in.Restores && ofServiceAlone(in, state))
}

func condition(app *v1alpha1.Application, kind v1alpha1.ApplicationConditionType) string {
	for _, c := range app.Status.Conditions {
		if c.Type == kind {
			return oneline.Brief(c.Message)
		}
	}
	return ""
}

// Automated tells whether Argo CD syncs an Application by itself.
func Automated(app *v1alpha1.Application) bool {
	return app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.Automated != nil
}

// SwitchedOff says that Argo CD has synced an Application by itself, as was tells, and does not any more; empty: it is not so.
func (a App) SwitchedOff(was bool, app *v1alpha1.Application) string {
	if !was || app == nil || Automated(app) {
		return ""
	}
	return fmt.Sprintf("somebody has switched auto-sync of application %s off since the run began", a)
}

// Heals tells whether Argo CD undoes by itself what others make of an Application in the cluster.
func Heals(app *v1alpha1.Application) bool {
	return Automated(app) && app.Spec.SyncPolicy.Automated.SelfHeal
}
