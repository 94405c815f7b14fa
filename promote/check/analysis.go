package check

import "github.com/acme/knative-promote/promote/event"

// findAnalysis finds all of it, each with its file, template and field.
func findAnalysis(f Facts) []event.Finding {
	var found []event.Finding
	for _, err := range f.Analysis {
		found = append(found, event.Finding{
			Problem: err.Error(),
			Effect:  "A promotion ends before its first commit, and nothing is pushed.",
		})
	}
	return found
}
