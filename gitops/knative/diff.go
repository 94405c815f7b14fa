package knative

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/acme/knative-promote/internal/jsonpointer"
)

// longestPath is how long a path is, in bytes, below which no differences are told apart: written
// out for each of them, one long key would be as often in memory as there are values below it.
const longestPath = 4096

// differences lists the paths at which two values differ, the deepest ones
// that both sides reach.
func differences(at string, a, b any) []string {
	if len(at) > longestPath {
		return difference(at, a, b)
	}
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return mapDifferences(at, a, b)
		}
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			var found []string
			for i := range a {
				found = append(found, differences(at+jsonpointer.Join(i), a[i], b[i])...)
			}
			return found
		}
	}
	return difference(at, a, b)
}

func difference(at string, a, b any) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	return []string{at}
}

func mapDifferences(at string, a, b map[string]any) []string {
	keys := map[string]bool{}
	for key := range a {
		keys[key] = true
	}
	for key := range b {
		keys[key] = true
	}
	var found []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		found = append(found, differences(at+jsonpointer.Join(key), a[key], b[key])...)
	}
	return found
}

// leaves are the paths of the values in a value that have none in themselves but those of a list.
func leaves(at string, value any) (found []string) {
	fields, ok := value.(map[string]any)
	if !ok {
		return []string{at}
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		found = append(found, leaves(at+jsonpointer.Join(key), fields[key])...)
	}
	return found
}

// below tells whether a path is one of these, or inside of one.
func below(path string, parents []string) bool {
	return slices.ContainsFunc(parents, func(parent string) bool {
		return path == parent || strings.HasPrefix(path, parent+"/")
	})
}

// list joins what was found, cut after a few.
func list(found []string) string {
	const most = 5
	if len(found) > most {
		return strings.Join(found[:most], ", ") + fmt.Sprintf(" and %d more", len(found)-most)
	}
	return strings.Join(found, ", ")
}
