package check

import (
	"github.com/acme/knative-promote/promote/review"
)

// branchRules are about what the forge wants of what comes to the branch.
func branchRules() []Rule {
	return []Rule{rule("branch-takes-no-push", findNoPush), rule("branch-wants-signatures", findUnsigned), rule("rollback-needs-merge", findSlowRollback)}
}

func findNoPush(f Facts) []found {
	rules := f.Branch
	if len(rules.NoPush) == 0 || rules.May != review.No || f.Request.Mode == review.Every {
		return nil
	}
	return []found{{values: values{"Rules": rules.NoPush, "ByPullRequest": f.Request.Mode == review.First}}}
}

func findUnsigned(f Facts) []found {
	if !f.Branch.Signatures || f.Request.Signer != nil || f.Request.ByAPI || f.Branch.May == review.Yes {
		return nil
	}
	return []found{{}}
}

func findSlowRollback(f Facts) []found {
	if f.Request.Mode != review.Every || f.Branch.Approvals == 0 && f.Request.Merge == review.Auto {
		return nil
	}
	return []found{{values: values{"Approvals": f.Branch.Approvals, "Merge": f.Request.Merge}}}
}
