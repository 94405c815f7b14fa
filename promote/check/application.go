package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/event"
)

// applicationRules are about the Application: its source, its sync policy, its
// project, and the state that it is in.
func applicationRules() []Rule {
	return slices.Concat(sourceRules(), policyRules(), stateRules(), windowRules(), signatureRules(), projectRules())
}

// policyRules are about what makes Argo CD sync.
func policyRules() []Rule {
	const link = "https://argo-cd.readthedocs.io/en/stable/user-guide/auto_sync/"
	return []Rule{
		{
			ID: "auto-sync-off", Severity: event.SeverityInfo, Find: findAutoSyncOff, Link: link,
			Summary: "Argo CD does not sync the Application by itself",
		},
		{
			ID: "self-heal-off", Severity: event.SeverityInfo, Find: findSelfHealOff, Link: link + "#automatic-self-healing",
			Summary: "Argo CD does not undo changes that are made in the cluster",
		},
	}
}

func (f Facts) automated() bool {
	policy := f.Setup.App.Spec.SyncPolicy
	return policy != nil && policy.Automated != nil
}

// selfHeal is the merge patch that switches auto-sync on, and self-heal with it.
const selfHeal = `{"spec": {"syncPolicy": {"automated": {"selfHeal": true}}}}`

func findAutoSyncOff(f Facts) []event.Finding {
	if f.Setup.App == nil || f.automated() {
		return nil
	}
	finding := event.Finding{
		Problem:  fmt.Sprintf("Auto-sync of Application %s is off", f.application()),
		Effect:   "A promotion syncs the Application itself, after each of its commits. What other people commit to the overlay is synced with it.",
		Evidence: "spec.syncPolicy.automated of the Application",
		Fix:      "Nothing, or switch auto-sync on:\n" + f.mergeApplication(selfHeal),
	}
	if may, asked := f.Setup.Can[argo.MaySync]; asked && !may {
		finding.Severity = event.SeverityError
		finding.Problem += ", and the token may not sync it"
		finding.Effect = "Nobody applies the promotion's commits: its first gate fails when the wait-timeout is over."
		finding.Evidence += "; the API server's can-i says no to applications, sync"
		finding.Fix = "Switch auto-sync on:\n" + f.mergeApplication(selfHeal) +
			"\nOr let the token sync, in the project's roles or in argocd-rbac-cm:\n" +
			fmt.Sprintf("p, ROLE, applications, sync, %s, allow", policyObject(f.app(), f.Setup))
	}
	return []event.Finding{finding}
}

// app is the Application's name as policies want it.
func (f Facts) app() argo.App {
	return argo.App{Name: f.application(), Namespace: f.Request.App.Namespace, Project: f.Request.App.Project}
}

func findSelfHealOff(f Facts) []event.Finding {
	if f.Setup.App == nil || !f.automated() || f.Setup.App.Spec.SyncPolicy.Automated.SelfHeal {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Self-heal of Application %s is off", f.application()),
		Effect: "Traffic that somebody shifts in the cluster, with kn or kubectl, stays as it is until the next commit to the overlay is synced. " +
			"The step of a promotion that this happens in fails.",
		Evidence: "spec.syncPolicy.automated.selfHeal of the Application",
		Fix:      "Nothing, or switch it on:\n" + f.mergeApplication(selfHeal),
	}}
}

// stateRules are about what the Application is doing now.
func stateRules() []Rule {
	return []Rule{
		{
			ID: "deleting", Severity: event.SeverityError, Find: findDeleting,
			Summary: "the Application is being deleted",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/app_deletion/",
		},
		{
			ID: "skip-reconcile", Severity: event.SeverityError, Find: findSkipped,
			Summary: "Argo CD is told to leave the Application alone",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/skip_reconcile/",
		},
		{
			ID: "condition", Severity: event.SeverityWarning, Find: findConditions,
			Summary: "Argo CD reports an error of the Application",
			Link:    "https://argo-cd.readthedocs.io/en/stable/faq/",
		},
		{
			ID: "operation", Severity: event.SeverityInfo, Find: findOperation,
			Summary: "a sync is running or waits to be tried again",
			Link:    "https://github.com/argoproj/argo-cd/issues/11494",
		},
		{
			ID: OutOfSync, Severity: event.SeverityWarning, Find: findOutOfSync,
			Summary: "this very commit was synced, and that has failed or the Service is out of sync",
			Link:    "https://argo-cd.readthedocs.io/en/stable/faq/#why-is-my-application-still-outofsync-immediately-after-a-successful-sync",
		},
		{
			ID: "owners", Severity: event.SeverityError, Find: findOwners,
			Summary: "several Applications deploy the Service",
			Link:    "https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/#fail-the-sync-if-a-shared-resource-is-found",
		},
		{
			ID: "overlay-shared", Severity: event.SeverityInfo, Find: findOthers,
			Summary: "several Applications deploy the overlay, and a promotion looks at one of them",
			Link:    "https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Cluster/",
		},
	}
}

func findDeleting(f Facts) []event.Finding {
	if f.Setup.App == nil || f.Setup.App.DeletionTimestamp == nil {
		return nil
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("Application %s is being deleted", f.application()),
		Effect:   "Argo CD syncs nothing of it any more.",
		Evidence: fmt.Sprintf("metadata.deletionTimestamp %s, finalizers %s", f.Setup.App.DeletionTimestamp.UTC().Format("2006-01-02 15:04:05 MST"), strings.Join(f.Setup.App.Finalizers, ", ")),
		Fix:      "Wait until it is gone and create it anew, or find out who deletes it.",
	}}
}

func findSkipped(f Facts) []event.Finding {
	const annotation = "argocd.argoproj.io/skip-reconcile"
	if f.Setup.App == nil || f.Setup.App.Annotations[annotation] != "true" {
		return nil
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("Application %s is annotated %s: \"true\"", f.application(), annotation),
		Effect:   "Argo CD neither compares nor syncs it: no commit of a promotion is ever seen.",
		Evidence: "metadata.annotations of the Application",
		Fix:      f.annotateApplication(annotation, ""),
	}}
}

// findConditions leaves out what another rule explains.
func findConditions(f Facts) []event.Finding {
	if f.Setup.App == nil {
		return nil
	}
	var found []event.Finding
	for _, c := range f.Setup.App.Status.Conditions {
		finding := event.Finding{
			Problem:  fmt.Sprintf("Argo CD reports %s for Application %s", c.Type, f.application()),
			Effect:   "As long as it lasts no commit becomes live: a promotion waits, and fails.",
			Evidence: c.Message,
			Fix:      "Look at the message, then at the Application:\nargocd app get " + f.application() + " --refresh",
		}
		switch c.Type {
		case v1alpha1.ApplicationConditionInvalidSpecError:
			finding.Severity = event.SeverityError
			finding.Effect = "Argo CD does not sync the Application until somebody corrects it."
		case v1alpha1.ApplicationConditionComparisonError, v1alpha1.ApplicationConditionUnknownError, v1alpha1.ApplicationConditionDeletionError:
			if argo.Denied(c.Message) != "" {
				finding.Severity = event.SeverityError
				finding.Effect = "It does not pass by itself: Argo CD compares by a dry run, which is refused each time. No commit becomes live, also not one that rolls back."
			}
		case v1alpha1.ApplicationConditionSyncError:
			finding.Effect = "What is in Git now is not live, and Argo CD does not try it again. A promotion's first commit is tried anew, together with it."
		default:
			continue
		}
		if !f.explained(c.Message) {
			found = append(found, finding)
		}
	}
	return found
}

// explained tells whether another rule finds what a condition reports.
func (f Facts) explained(message string) bool {
	if strings.Contains(message, immutable) && len(findOwned(f)) > 0 {
		return true
	}
	if strings.Contains(message, noProtocol) {
		return len(findPortsWithoutProtocol(f)) > 0
	}
	if slices.ContainsFunc(badSignatures(), func(text string) bool { return strings.Contains(message, text) }) {
		return f.signatures() != nil
	}
	denied := strings.Contains(message, "not permitted in project") || strings.Contains(message, "allowed destinations in project")
	return denied && len(findDenied(f)) > 0
}

// findOperation tells a sync that will be over in a moment from one that keeps
// later commits waiting.
func findOperation(f Facts) []event.Finding {
	if f.Setup.App == nil {
		return nil
	}
	state := f.Setup.App.Status.OperationState
	if state == nil || state.Phase.Completed() {
		return nil
	}
	finding := event.Finding{
		Problem:  fmt.Sprintf("A sync of Application %s is running", f.application()),
		Effect:   "A promotion waits until it is over.",
		Evidence: fmt.Sprintf("status.operationState: %s since %s: %s", state.Phase, state.StartedAt.UTC().Format("2006-01-02 15:04:05 MST"), state.Message),
		Fix:      "Wait for it:\nargocd app wait " + f.application() + " --operation",
	}
	if state.RetryCount > 0 && state.Phase == common.OperationRunning {
		finding.Severity = event.SeverityWarning
		finding.Problem = fmt.Sprintf("A sync of Application %s has failed and is tried again and again (%d so far)", f.application(), state.RetryCount)
		finding.Effect = "Argo CD does not look at later commits before it has used up the retries."
		if may, asked := f.Setup.Can[argo.MaySync]; state.Operation.InitiatedBy.Automated && (may || !asked) {
			finding.Effect += " A promotion ends it where an admission webhook, a policy or the schema has refused the manifest, and waits for it otherwise."
		}
		finding.Fix = "End it, then see what it could not apply:\nargocd app terminate-op " + f.application() + "\nargocd app get " + f.application()
	}
	return []event.Finding{finding}
}

// findOwners asks the list of Applications, Argo CD's own warning and the mark
// on the live Service.
func findOwners(f Facts) []event.Finding {
	if f.Setup.App == nil {
		return nil
	}
	var evidence []string
	for _, owner := range f.Setup.Owners {
		evidence = append(evidence, fmt.Sprintf("Application %s of project %s lists the Service among its resources", owner, owner.Project))
	}
	for _, c := range f.Setup.App.Status.Conditions {
		if c.Type == v1alpha1.ApplicationConditionSharedResourceWarning && strings.HasPrefix(c.Message, "Service/"+f.Request.Service+" ") {
			evidence = append(evidence, string(c.Type)+": "+c.Message)
		}
	}
	if len(evidence) == 0 {
		return nil
	}
	return []event.Finding{{
		Problem: fmt.Sprintf("Application %s is not the only one that deploys Service %s", f.application(), f.Request.Service),
		Effect: "Each of them marks the Service as its own and sees the other's mark as a difference, so they sync it in turns. " +
			"A promotion may see its commits undone or never in peace, and fail.",
		Evidence: strings.Join(evidence, "\n"),
		Fix:      "Leave the Service to one of them. To delete an Application and keep what it deployed:\nargocd app delete OTHER --cascade=false",
	}}
}
