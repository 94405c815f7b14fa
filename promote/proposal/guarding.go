package proposal

import (
	"slices"

	"github.com/acme/knative-promote/promote/policy"
)

// Measured are the files with AnalysisTemplates that the pipeline file names, before or after, and that
// the head changes.
func (p Proposal) Measured() []string {
	files := slices.Concat(p.was.File.Files("analysis"), p.is.File.Files("analysis"))
	slices.Sort(files)
	return slices.DeleteFunc(slices.Compact(files), func(name string) bool { return !p.changes(name) })
}

// Judged are those of the changed files that are policies': of the input, or of the pipeline file, before or after.
func (p Proposal) Judged(changed []string) (files []string) {
	patterns := slices.Concat(p.settings.Policies, p.was.File.Patterns("policies"), p.is.File.Patterns("policies"))
	for _, file := range changed {
		if policy.Matches(patterns, file) {
			files = append(files, file)
		}
	}
	return files
}
