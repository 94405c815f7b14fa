package check

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/review"
)

// branchRules are about what the forge wants of what comes to the branch.
func branchRules() []Rule {
	const rulesets = "https://docs.github.com/en/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/about-rulesets"
	return []Rule{
		{
			ID: "branch-takes-no-push", Severity: event.SeverityError, Find: findNoPush, Link: rulesets,
			Summary: "the branch's rules take no push of the token's owner, and mode has the commits pushed",
		},
		{
			ID: "branch-wants-signatures", Severity: event.SeverityError, Find: findUnsigned,
			Summary: "the branch takes signed commits alone, and the promotion's are not signed",
			Link:    "https://docs.github.com/en/authentication/managing-commit-signature-verification/about-commit-signature-verification",
		},
		{
			ID: "rollback-needs-merge", Severity: event.SeverityWarning, Find: findSlowRollback, Link: rulesets,
			Summary: "a rollback would wait until a person has approved or merged it",
		},
	}
}

// findNoPush is silent where nobody tells whether the token's owner may push
// past the rules: the forge says so of the first push.
func findNoPush(f Facts) []event.Finding {
	rules := f.Branch
	if len(rules.NoPush) == 0 || rules.May != review.No || f.Request.Mode == review.Every {
		return nil
	}
	finding := event.Finding{
		Problem:  "Branch " + f.Request.Source.Branch + " takes no push of the token's owner",
		Effect:   "A promotion ends before its first commit has arrived.",
		Evidence: "the forge's rules of the branch: " + strings.Join(rules.NoPush, "; "),
		Fix:      "Let the App, or the token's owner, bypass these rules, always and not for pull requests alone. Or set mode to pull-request, or to first-pull-request with such a bypass.",
	}
	if f.Request.Mode == review.First {
		finding.Effect = "The candidate comes by a pull request, and the promotion ends before its first step has arrived."
	}
	return []event.Finding{finding}
}

func findUnsigned(f Facts) []event.Finding {
	if !f.Branch.Signatures || f.Request.Signer != nil || f.Request.ByAPI || f.Branch.May == review.Yes {
		return nil
	}
	return []event.Finding{{
		Problem:  "Branch " + f.Request.Source.Branch + " takes signed commits alone",
		Effect:   "The forge refuses the promotion's commits, which are not signed.",
		Evidence: "the forge's rules of the branch",
		Fix:      "Set signing-key, and signing-passphrase where the key is encrypted, with a key whose public part the account of author-email has.",
	}}
}

func findSlowRollback(f Facts) []event.Finding {
	if f.Request.Mode != review.Every || f.Branch.Approvals == 0 && f.Request.Merge == review.Auto {
		return nil
	}
	why := "merge is " + string(f.Request.Merge)
	if f.Branch.Approvals > 0 {
		why = fmt.Sprintf("the forge's rules of the branch want %s", count(f.Branch.Approvals, "approval"))
	}
	return []event.Finding{{
		Problem:  "A rollback waits for a person: " + why,
		Effect:   "When a gate fails, the candidate keeps its share of the traffic until somebody has said yes.",
		Evidence: why,
		Fix:      "Set mode to first-pull-request and let the App bypass the rules, or require nothing of these pull requests that a person must do.",
	}}
}
