package kustomize

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

const mergeKey = "<<"

// at is the value of a key in a mapping or in one that it merges in, in whatever case, as kustomize reads it; nil: there is none.
func at(n *yaml.Node, key string) *yaml.Node { return atOf(n, key, strings.EqualFold) }

// exactly is that of a key as it is written, as kustomize reads objects.
func exactly(n *yaml.Node, key string) *yaml.Node {
	return atOf(n, key, func(a, b string) bool { return a == b })
}

// exact is the text of a key as it is written.
func exact(n *yaml.Node, key string) string {
	if value := exactly(n, key); value != nil {
		return value.Value
	}
	return ""
}

func atOf(n *yaml.Node, key string, same func(a, b string) bool) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if same(n.Content[i].Value, key) {
			return resolve(n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != mergeKey {
			continue
		}
		for _, one := range mergedIn(n.Content[i+1]) {
			if value := atOf(one, key, same); value != nil {
				return value
			}
		}
	}
	return nil
}

// mergedIn are the mappings that stand behind a merge key.
func mergedIn(n *yaml.Node) []*yaml.Node {
	if n = resolve(n); n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	var all []*yaml.Node
	for _, one := range n.Content {
		all = append(all, resolve(one))
	}
	return all
}

// oddKey is an error where kustomize may read the keys of a mapping otherwise than they are read here.
func oddKey(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind == yaml.AliasNode {
			return fmt.Errorf("line %d has an alias for a key: write the key", key.Line)
		}
		if key.Value != mergeKey || i == 0 {
			continue
		}
		brought := keysOf{mergeKey: true}
		brought.add(n.Content[i+1], map[*yaml.Node]bool{})
		for j := 0; j < i; j += 2 {
			if before := n.Content[j].Value; brought[strings.ToLower(before)] {
				return fmt.Errorf("line %d merges in %s behind another one, of which kustomize lets this hold here and that there: write << first", key.Line, oneline.Brief(before))
			}
		}
	}
	for _, key := range structural {
		times := 0
		for i := 0; i < len(n.Content); i += 2 {
			if strings.EqualFold(n.Content[i].Value, key) {
				times++
			}
		}
		if times > 1 {
			return fmt.Errorf("line %d has the key %s twice but for its case, of which kustomize reads one here and another one there: write it once", n.Line, key)
		}
	}
	return nil
}

// keysOf are the keys of mappings, in lower case.
type keysOf map[string]bool

// add adds those of what stands behind a merge key, and of what that merges in.
func (k keysOf) add(n *yaml.Node, seen map[*yaml.Node]bool) {
	for _, one := range mergedIn(n) {
		if seen[one] {
			continue
		}
		seen[one] = true
		for i := 0; i+1 < len(one.Content); i += 2 {
			if key := one.Content[i].Value; key == mergeKey {
				k.add(one.Content[i+1], seen)
			} else {
				k[strings.ToLower(key)] = true
			}
		}
	}
}

// structural are keys by which kustomize tells what a mapping is.
var structural = []string{"apiVersion", "kind", "metadata", "items", "op", "source", "targets", "reference", "fieldSpecs", "$patch"}
