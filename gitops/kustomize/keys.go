package kustomize

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

const mergeKey = "<<"

// deepest is how deep merge keys are followed.
const deepest = 6

// at is the value of a key in a mapping or in one that it merges in, in whatever case, as kustomize reads it; nil: there is none.
func at(n *yaml.Node, key string) *yaml.Node { return atOf(n, key, strings.EqualFold, 0) }

// exactly is that of a key as it is written, as kustomize reads objects.
func exactly(n *yaml.Node, key string) *yaml.Node {
	return atOf(n, key, func(a, b string) bool { return a == b }, 0)
}

// exact is the text of a key as it is written.
func exact(n *yaml.Node, key string) string {
	if value := exactly(n, key); value != nil {
		return value.Value
	}
	return ""
}

func atOf(n *yaml.Node, key string, same func(a, b string) bool, depth int) *yaml.Node {
	if n.Kind == yaml.SequenceNode && depth > 0 { // several are merged in
		for _, one := range n.Content {
			if value := atOf(resolve(one), key, same, depth+1); value != nil {
				return value
			}
		}
	}
	if n.Kind != yaml.MappingNode || depth > deepest {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if same(n.Content[i].Value, key) {
			return resolve(n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == mergeKey {
			return atOf(resolve(n.Content[i+1]), key, same, depth+1)
		}
	}
	return nil
}
