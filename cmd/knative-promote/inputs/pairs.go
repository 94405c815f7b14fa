package inputs

import (
	"maps"
	"slices"

	"github.com/acme/knative-promote/promote/analysis"
)

// pairSecrets are the values of lines name=value, without their names.
func pairSecrets(text string) []string {
	pairs, err := analysis.ParsePairs(text)
	if err != nil {
		return nil
	}
	return slices.Collect(maps.Values(pairs))
}
