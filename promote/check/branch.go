package check

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/review"
)

// branchRules are about what the forge wants of what comes to the branch.
func branchRules() []Rule {
	return []Rule{
		rule("branch-takes-no-push", findNoPush), rule("branch-wants-signatures", findUnsigned), rule("rollback-needs-merge", findSlowRollback),
		rule("branch-has-namesakes", findNamesakes),
	}
}

// findNamesakes is about what anybody may push beside a protected branch, and about another default branch.
func findNamesakes(f Facts) []found {
	if !f.Namesakes.Any() {
		return nil
	}
	source, _ := f.source()
	return []found{{values: values{"Namesakes": f.Namesakes.References, "Default": f.Namesakes.Default, "Revision": cmp.Or(source.TargetRevision, "HEAD")}}}
}

// NamesakesWarning says that Argo CD may deploy something else in the place of a branch; empty: there is nothing.
func NamesakesWarning(namesakes gitops.Namesakes, branch string) string {
	if namesakes.Default != "" {
		return fmt.Sprintf("Argo CD deploys the default branch, which is %s, and the commits go to %s: set the input branch to %s, or have the Application follow refs/heads/%s",
			oneline.Brief(namesakes.Default), branch, oneline.Brief(namesakes.Default), branch)
	}
	if len(namesakes.References) == 0 {
		return ""
	}
	return fmt.Sprintf("Argo CD may deploy %s in the place of the branch %s: delete what nobody needs of that (git push REPOSITORY :%s), and have the Application follow refs/heads/%s",
		strings.Join(namesakes.References, " and "), branch, namesakes.References[0], branch)
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
	if f.Request.Mode != review.Every || len(f.Branch.Wants) == 0 && f.Request.Merge == review.Auto {
		return nil
	}
	return []found{{values: values{"Wants": f.Branch.Wants, "Merge": f.Request.Merge}}}
}
