package kustomize

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxGrown is how many values an overlay may come to, where each copy doubles all of it.
const maxGrown = 1 << 22

// copies are what multiplies the values of an overlay when it is rendered: JSON6902 operations
// that copy one, and replacements by one that has others in it. A replacement by a word or a
// number multiplies nothing.
type copies struct {
	operations   int
	replacements []replacement
	nested       map[string]bool // keys of mappings that have a mapping or a list somewhere
	items        map[string]bool // keys of lists that have such items
}

// A replacement copies the value of one field to others
// (https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/).
type replacement struct {
	source  string
	targets []string
}

// see adds what a value and those in it say of copies.
func (c *copies) see(n *yaml.Node) {
	if c.nested == nil {
		// What kustomize's own generators and transformers make.
		c.nested = map[string]bool{"metadata": true, "labels": true, "annotations": true, "data": true, "binaryData": true, "spec": true, "template": true}
		c.items = map[string]bool{}
	}
	if n.Kind == yaml.MappingNode {
		c.mapping(n)
	}
	for _, child := range n.Content {
		c.see(child)
	}
}

func (c *copies) mapping(n *yaml.Node) {
	if isCopy(n) {
		c.operations++
	}
	if source, targets := at(n, "source"), at(n, "targets"); source != nil && targets != nil {
		c.replacements = append(c.replacements, replacementOf(source, targets))
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, resolve(n.Content[i+1])
		if value.Kind == yaml.MappingNode || value.Kind == yaml.SequenceNode {
			c.nested[key] = true
		}
		if value.Kind == yaml.SequenceNode && slices.ContainsFunc(value.Content, func(item *yaml.Node) bool { return resolve(item).Kind != yaml.ScalarNode }) {
			c.items[key] = true
		}
	}
}

// replacementOf has no source where that is a part of a text.
func replacementOf(source, targets *yaml.Node) (r replacement) {
	if options := at(source, "options"); options == nil || text(options, "delimiter") == "" {
		r.source = text(source, "fieldPath")
	}
	for _, target := range targets.Content {
		if paths := at(resolve(target), "fieldPaths"); paths != nil {
			for _, p := range paths.Content {
				r.targets = append(r.targets, resolve(p).Value)
			}
		}
	}
	return r
}

// at is the value of a key in a mapping; nil: there is none.
func at(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if strings.EqualFold(n.Content[i].Value, key) {
			return resolve(n.Content[i+1])
		}
	}
	return nil
}

// check is an error where as many values as the overlay has may become too many.
func (c *copies) check(values int) error {
	doublings, each := c.operations, bits.Len(uint(values)) // a pattern may name that many places
	for again := true; again; {
		again = false
		for i, r := range c.replacements {
			if !c.isNested(r.source) {
				continue
			}
			for _, target := range r.targets {
				for _, key := range keysOf(target) {
					c.nested[key] = true
				}
				doublings++
				if strings.ContainsAny(target, "*[") {
					doublings += each
				}
			}
			c.replacements[i].source, again = "", true
		}
	}
	if doublings > 0 && (doublings > 30 || values<<doublings > maxGrown) {
		return fmt.Errorf("its patches and replacements copy values %d times, which may make more than %d of its %d: copy fewer, or single words and numbers", doublings, maxGrown, values)
	}
	return nil
}

// isNested tells whether a field may have others in it.
func (c *copies) isNested(fieldPath string) bool {
	last := lastKey(fieldPath)
	if strings.HasSuffix(fieldPath, "."+last) || fieldPath == last {
		return c.nested[last]
	}
	return c.items[last]
}

// lastKey is the last part of a path that is no place in a list.
func lastKey(fieldPath string) string {
	keys := keysOf(fieldPath)
	if len(keys) == 0 {
		return ""
	}
	return keys[len(keys)-1]
}

// keysOf are the parts of a path that are no places in a list.
func keysOf(fieldPath string) (keys []string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(fieldPath, `\.`, "\x00"), ".") {
		if !strings.HasPrefix(part, "[") && !strings.HasSuffix(part, "]") && strings.Trim(part, "0123456789-*") != "" {
			keys = append(keys, strings.ReplaceAll(part, "\x00", "."))
		}
	}
	return keys
}
