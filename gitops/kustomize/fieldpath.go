package kustomize

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/kyaml/utils"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
)

// matchesItself tells whether each value in a [key=value] of a field path is matched by itself. kustomize takes it for a regular
// expression: where it creates an item with such a value and does not find that again, it creates another one, without an end
// (https://github.com/kubernetes-sigs/kustomize/blob/api/v0.20.1/kyaml/yaml/match.go). Since 5.8 it looks first for the value as it is written.
func matchesItself(fieldPath string) bool {
	for _, part := range utils.SmarterPathSplitter(fieldPath, ".") {
		if !kyaml.IsListIndex(part) {
			continue
		}
		_, value, err := kyaml.SplitIndexNameValue(part)
		if err != nil {
			continue // which no version takes
		}
		written, err := yaml.Marshal(&yaml.Node{Kind: yaml.ScalarNode, Value: value})
		if err != nil {
			return false
		}
		if pattern, err := regexp.Compile(value); err != nil || !pattern.MatchString(strings.TrimSpace(string(written))) {
			return false
		}
	}
	return true
}

// goesIntoText tells whether a field path goes on behind a [=value], which is an item of a list that is a text itself.
func goesIntoText(fieldPath string) bool {
	parts := utils.SmarterPathSplitter(fieldPath, ".")
	for _, part := range parts[:max(len(parts)-1, 0)] {
		if strings.HasPrefix(part, "[=") {
			return true
		}
	}
	return false
}

// plainPath is a field path, or what has another one's place, without what escapes a character of it.
func plainPath(text string) string { return unescaped.Replace(text) }

var unescaped = strings.NewReplacer("~1", "/", `\`, "")
