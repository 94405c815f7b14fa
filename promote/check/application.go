package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	"github.com/argoproj/gitops-engine/pkg/sync/common"

	"github.com/acme/knative-promote/argo"
)

// applicationRules are about the Application: its source, its sync policy, its
// project, and the state that it is in.
func applicationRules() []Rule {
	return slices.Concat(sourceRules(), policyRules(), stateRules(), windowRules(), signatureRules(), projectRules())
}

// policyRules are about what makes Argo CD sync.
func policyRules() []Rule {
	return []Rule{rule("auto-sync-off", findAutoSyncOff), rule("self-heal-off", findSelfHealOff)}
}

// selfHeal is the merge patch that switches auto-sync on, and self-heal with it.
const selfHeal = `{"spec": {"syncPolicy": {"automated": {"selfHeal": true}}}}`

func findAutoSyncOff(f Facts) []found {
	if argo.Automated(f.Setup.App) {
		return nil
	}
	may, asked := f.Setup.Can[argo.MaySync]
	return []found{{severity: errorIf(asked && !may), values: values{"MayNot": asked && !may, "Command": mergeApplication(f.Setup.App, selfHeal)}}}
}

func findSelfHealOff(f Facts) []found {
	if argo.Heals(f.Setup.App) {
		return nil
	}
	return []found{{values: values{"Command": mergeApplication(f.Setup.App, selfHeal)}}}
}

// stateRules are about what the Application is doing now.
func stateRules() []Rule {
	return []Rule{
		rule("deleting", findDeleting), rule("skip-reconcile", findSkipped), rule("condition", findConditions), rule("operation", findOperation),
		rule(OutOfSync, findOutOfSync), rule("owners", findOwners), rule("overlay-shared", findOthers), rule("shared-without-a-name", findUnnamed),
	}
}

func findDeleting(f Facts) []found {
	if f.Setup.App.DeletionTimestamp == nil {
		return nil
	}
	return []found{{values: values{"Since": second(f.Setup.App.DeletionTimestamp.Time), "Finalizers": f.Setup.App.Finalizers}}}
}

func findSkipped(f Facts) []found {
	const annotation = "argocd.argoproj.io/skip-reconcile"
	if f.Setup.App.Annotations[annotation] != "true" {
		return nil
	}
	return []found{{values: values{"Command": annotateApplication(f.Setup.App, annotation, "")}}}
}

// findConditions leaves out what another rule explains.
func findConditions(f Facts) []found {
	var all []found
	for _, c := range f.Setup.App.Status.Conditions {
		denied, unchecked, fatal := argo.Denied(c.Message) != "", argo.Uncheckable(c.Message), false
		switch c.Type {
		case v1alpha1.ApplicationConditionInvalidSpecError:
			fatal = true
		case v1alpha1.ApplicationConditionComparisonError, v1alpha1.ApplicationConditionUnknownError, v1alpha1.ApplicationConditionDeletionError:
			fatal = denied || unchecked || lasts(f, c)
		case v1alpha1.ApplicationConditionSyncError:
		default:
			continue
		}
		if !explained(f, c.Message) {
			all = append(all, found{severity: errorIf(fatal), values: values{"Type": string(c.Type), "Message": c.Message, "Denied": denied, "Unchecked": unchecked}})
		}
	}
	return all
}

// lasts tells whether Argo CD has found a condition again in comparisons after the one that first did. Both times
// are by its own clock.
func lasts(f Facts, c v1alpha1.ApplicationCondition) bool {
	const passing = time.Minute
	last := f.Setup.App.Status.ReconciledAt
	return last != nil && c.LastTransitionTime != nil && last.Sub(c.LastTransitionTime.Time) >= passing
}

// notApplied is how kustomize says that a patch adds to what is not there.
const notApplied = "operation does not apply"

// explained tells whether another rule finds what a condition reports.
func explained(f Facts, message string) bool {
	if strings.Contains(message, immutable) && f.finds(ruleAnnotationsOwned) {
		return true
	}
	if strings.Contains(message, noProtocol) {
		return f.finds(rulePorts)
	}
	if strings.Contains(message, notApplied) {
		return f.finds(ruleMisfit)
	}
	if slices.ContainsFunc(badSignatures(), func(text string) bool { return strings.Contains(message, text) }) {
		return signatures(f) != nil
	}
	denied := strings.Contains(message, "not permitted in project") || strings.Contains(message, "allowed destinations in project")
	return denied && f.finds(ruleProjectDenies)
}

// findOperation tells a sync that will be over in a moment from one that keeps
// later commits waiting.
func findOperation(f Facts) []found {
	state := f.Setup.App.Status.OperationState
	if state == nil || state.Phase.Completed() {
		return nil
	}
	retries := state.RetryCount
	if state.Phase != common.OperationRunning {
		retries = 0
	}
	may, asked := f.Setup.Can[argo.MaySync]
	return []found{{severity: warningIf(retries > 0), values: values{
		"Phase": state.Phase, "Since": second(state.StartedAt.Time), "Message": state.Message,
		"Retries": retries, "Ends": state.Operation.InitiatedBy.Automated && (may || !asked),
	}}}
}

func findOwners(f Facts) []found {
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
	return []found{{values: values{"Evidence": evidence}}}
}
