package proposal

import (
	"slices"

	"github.com/acme/knative-promote/promote/policy"
)

// Measured are the files with AnalysisTemplates that the pipeline file names, before or after, and that
// the head changes.
func (p Proposal) Measured() []string {
	return p.changed(slices.Concat(p.was.File.Files("analysis"), p.is.File.Files("analysis")))
}

// Judged are the files with policies that the head changes: of the input, or of the pipeline file, before or after.
func (p Proposal) Judged() []string {
	return p.changedOf(slices.Concat(p.settings.Policies, p.was.File.Patterns("policies"), p.is.File.Patterns("policies")))
}

// ChangesPolicies tells whether one of the policies that are asked changes, so that it concerns overlays too that stay
// as they are.
func (p Proposal) ChangesPolicies() bool {
	return p.asksPolicies() && len(p.changedOf(p.settings.Policies)) > 0
}

// changedOf are the files of some patterns, before or after, that are others at the head: also what a link leads to.
func (p Proposal) changedOf(patterns []string) []string {
	return p.changed(slices.Concat(policy.Files(p.base.Tree, patterns), policy.Files(p.head.Tree, patterns)))
}

// changed are those of some files that are others at the head, each once.
func (p Proposal) changed(files []string) []string {
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(name string) bool { return !p.changes(name) })
}
