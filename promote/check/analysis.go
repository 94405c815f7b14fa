package check

// findAnalysis finds all of it, each with its file, template and field.
func findAnalysis(f Facts) []Finding {
	var found []Finding
	for _, err := range f.Analysis {
		found = append(found, Finding{
			Problem: err.Error(),
			Effect:  "A promotion ends before its first commit, and nothing is pushed.",
		})
	}
	return found
}
