package kustomize

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

const (
	maxGrown     = 1 << 22 // values that an overlay may come to, where each copy doubles all of it
	maxDoublings = 30      // beyond which nothing is counted any more
)

// copies are what multiplies the values of an overlay when it is rendered: JSON6902 operations
// that copy one, and replacements by one that has others in it, or within texts. A replacement
// by a word or a number multiplies nothing.
type copies struct {
	operations   int
	replacements []replacement
	nested       map[fieldName]bool // those that have a mapping or a list somewhere
	items        map[fieldName]bool // lists that have such items
	longest      int                // text, in bytes
	grown        int                // values that the overlay may come to, by check
}

// A fieldName is a key below another one, as metadata and name, whatever lists are between.
type fieldName struct{ above, key string }

// A replacement copies the value of one field to others
// (https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/replacements/).
type replacement struct {
	source  string // empty: it multiplies nothing, or was counted
	unsure  bool   // kustomize may read it otherwise: it has a key twice, in another case, or merged
	targets []string
	within  bool   // it replaces a part of a text
	endless string // a path of it by which kustomize creates items without an end
}

// see adds what a value below a key, and those in it, say of copies.
func (c *copies) see(n *yaml.Node, above string) {
	if n.Kind != yaml.MappingNode {
		c.longest = max(c.longest, len(n.Value))
		for _, child := range n.Content {
			c.see(child, above)
		}
		return
	}
	c.mapping(n)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i].Value, resolve(n.Content[i+1])
		if value.Kind != yaml.ScalarNode {
			set(&c.nested, fieldName{above, key})
		}
		if value.Kind == yaml.SequenceNode && slices.ContainsFunc(value.Content, func(item *yaml.Node) bool { return resolve(item).Kind != yaml.ScalarNode }) {
			set(&c.items, fieldName{above, key})
		}
		c.see(n.Content[i+1], key)
	}
}

func set(fields *map[fieldName]bool, f fieldName) {
	if *fields == nil {
		*fields = map[fieldName]bool{}
	}
	(*fields)[f] = true
}

// mapping looks for an operation of a JSON patch, and for a replacement.
func (c *copies) mapping(n *yaml.Node) {
	op, pointer, value := at(n, "op"), text(n, "path"), at(n, "value")
	if isCopy(n) {
		c.operations++
	}
	if op != nil && (op.Value == "move" || op.Value == "copy" || value != nil && value.Kind != yaml.ScalarNode) {
		for _, f := range fieldsOf(strings.ReplaceAll(strings.TrimPrefix(pointer, "/"), "/", ".")) {
			set(&c.nested, f)
			set(&c.items, f)
		}
	}
	if source, targets := at(n, "source"), at(n, "targets"); source != nil && targets != nil {
		r := replacementOf(source, targets, unsure(n, 0))
		c.replacements = append(c.replacements, r)
	}
}

func replacementOf(source, targets *yaml.Node, unsure bool) (r replacement) {
	if options := at(source, "options"); options == nil || text(options, "delimiter") == "" {
		r.source = text(source, "fieldPath")
	}
	if r.unsure = unsure; unsure {
		r.source = cmp.Or(r.source, "metadata.name")
	}
	for _, target := range targets.Content {
		options := at(resolve(target), "options")
		r.within = r.within || options != nil && text(options, "delimiter") != ""
		creates := unsure || options != nil && at(options, "create") != nil && text(options, "create") != "false"
		if paths := at(resolve(target), "fieldPaths"); paths != nil {
			for _, p := range paths.Content {
				path := resolve(p).Value
				if r.targets = append(r.targets, path); creates && !matchesItself(path) {
					r.endless = path
				}
			}
		}
	}
	return r
}

// deepest is how deep a replacement is at the most, from it to a path of a target.
const deepest = 6

// unsure tells whether a mapping in a value has a key twice but for its case, of which kustomize takes one, or merges another one in.
func unsure(n *yaml.Node, depth int) bool {
	n = resolve(n)
	seen := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			key := strings.ToLower(child.Value)
			if seen[key] || key == mergeKey {
				return true
			}
			seen[key] = true
		} else if depth < deepest && unsure(child, depth+1) {
			return true
		}
	}
	return false
}

// mergeKey is the key of a mapping whose keys are those of the one above too.
const mergeKey = "<<"

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

// check is an error where as many values as the overlay has, or the longest text of it, may become too many.
func (c *copies) check(values int) error {
	sources := fieldSet{whole: map[string]bool{}, above: map[string]bool{}}
	for _, r := range c.replacements {
		if r.source != "" {
			sources.add(r.source)
		}
		if r.endless != "" {
			return fmt.Errorf("the field path %q of a replacement creates what it does not find again, as kustomize takes the value in its brackets for a regular expression: write a value there that matches itself, or do not create", oneline.Brief(r.endless))
		}
	}
	doublings, ofTexts := c.doublings(bits.Len(uint(values)), sources)
	c.grown = values << min(doublings, maxDoublings)
	if doublings > 0 && (doublings > maxDoublings || c.grown > maxGrown) {
		return fmt.Errorf("its patches and replacements copy values %d times, which may make more than %d of its %d: copy fewer, or single words and numbers", doublings, maxGrown, values)
	}
	if ofTexts > 0 && c.longest<<min(ofTexts, maxDoublings) > maxTotalSize {
		return fmt.Errorf("its replacements within texts copy %d times what others copy, which may make more than %d bytes of its longest text, of %d: copy fewer, or less", ofTexts, maxTotalSize, c.longest)
	}
	return nil
}

// doublings are how often all values may double, where a pattern names so many times as many places, and how often a text may.
func (c *copies) doublings(pattern int, sources fieldSet) (all, ofTexts int) {
	all = c.operations
	for again := true; again && all <= maxDoublings; {
		again = false
		for i, r := range c.replacements {
			switch {
			case r.source == "":
				continue
			case r.unsure || c.isNested(r.source):
				all += c.into(r.targets, pattern)
			case r.feeds(sources):
				ofTexts += len(r.targets)
			default:
				continue
			}
			c.replacements[i].source, again = "", true
		}
	}
	return all, ofTexts
}

// into has targets hold other values from now on, and returns how often these double.
func (c *copies) into(targets []string, pattern int) (doublings int) {
	for _, target := range targets {
		for _, f := range fieldsOf(target) {
			set(&c.nested, f)
		}
		if doublings++; strings.ContainsAny(target, "*[") {
			doublings += pattern
		}
	}
	return doublings
}

// isNested tells whether a field may have others in it.
func (c *copies) isNested(fieldPath string) bool {
	fields := fieldsOf(fieldPath)
	if len(fields) == 0 {
		return false
	}
	last := fields[len(fields)-1]
	if strings.HasSuffix(fieldPath, last.key) {
		return c.nested[last]
	}
	return c.items[last]
}

// feeds tells whether a replacement within a text may be of one that others come from.
func (r replacement) feeds(sources fieldSet) bool {
	return r.within && slices.ContainsFunc(r.targets, sources.overlaps)
}

// A fieldSet has fields, by what their paths lead through, and all that these are in.
type fieldSet struct{ whole, above map[string]bool }

func (s fieldSet) add(fieldPath string) {
	at := ""
	for _, f := range fieldsOf(fieldPath) {
		s.above[at] = true
		at += f.key + "\x00"
	}
	s.above[at], s.whole[at] = true, true
}

// overlaps tells whether a path may lead to one of the fields, into it, or to what it is in.
func (s fieldSet) overlaps(fieldPath string) bool {
	at := ""
	for _, f := range fieldsOf(fieldPath) {
		if s.whole[at] {
			return true
		}
		at += f.key + "\x00"
	}
	return s.above[at]
}

// fieldsOf are the keys of a path, each below the one before, without places in lists.
func fieldsOf(fieldPath string) (fields []fieldName) {
	above := ""
	for part := range strings.SplitSeq(strings.ReplaceAll(fieldPath, `\.`, "\x00"), ".") {
		if strings.HasPrefix(part, "[") || strings.HasSuffix(part, "]") || strings.Trim(part, "0123456789-*") == "" {
			continue
		}
		key := strings.ReplaceAll(part, "\x00", ".")
		fields = append(fields, fieldName{above, key})
		above = key
	}
	return fields
}
