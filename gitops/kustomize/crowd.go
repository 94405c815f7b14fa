package kustomize

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// Limits on the objects of an overlay. kustomize compares each with all others, in each folder that takes them over, and
// goes through all of them for each image, label or replacement, so the time grows as their square: four thousand empty
// ones take about eight seconds, twice as many four times as long. A rollback renders an overlay about five times.
const (
	maxObjects = 4_000  // documents, items of lists, what is generated, and entries that change objects
	maxPassed  = 16_000 // the same, each counted in every folder on its way to the overlay

	// Each operation of a patch is read anew for each object, which takes some ten microseconds.
	maxChanges = 1_000_000 // operations and replaced fields, each counted for every object

	// All values are looked at for each image that is set, which takes a microsecond or two.
	maxLooks = 4_000_000 // values, each counted for every entry of images
)

// crowd is how many objects an overlay holds, and how many of these are operations and replaced fields.
type crowd struct{ objects, passed, changing int }

// changes are how often something is looked at to change it.
func (c *crowd) changes() int { return (c.objects - c.changing) * c.changing }

// change counts n operations or replaced fields that are so many folders deep.
func (c *crowd) change(n, folders int) error {
	c.changing += n
	return c.add(n, folders)
}

// add counts n objects that are so many folders deep.
func (c *crowd) add(n, folders int) error {
	c.objects += n
	c.passed += n * folders
	switch {
	case c.objects > maxObjects:
		return fmt.Errorf("the overlay holds more than %d objects, patches and entries that change them: split it", maxObjects)
	case c.passed > maxPassed:
		return fmt.Errorf("the objects of the overlay come to more than %d, counted in each folder that takes them over: split it, or use fewer folders", maxPassed)
	case c.changes() > maxChanges:
		return fmt.Errorf("its operations and replacements come to more than %d changes, each counted for every object: split it, or patch less", maxChanges)
	}
	return nil
}

// objects counts a document, and the items that it holds if it is a list: kustomize takes those out. A merge key may bring
// the items. What contains itself was refused before.
func objects(n *yaml.Node) int {
	n = resolve(n)
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = resolve(n.Content[0])
	}
	total := 1
	if n.Kind != yaml.MappingNode {
		return total
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		value := resolve(n.Content[i+1])
		switch key := n.Content[i].Value; {
		case key == mergeKey && value.Kind == yaml.MappingNode:
			total += objects(value) - 1
		case key == mergeKey || key == "items" && value.Kind == yaml.SequenceNode:
			for _, item := range value.Content {
				total += objects(item)
			}
		}
	}
	return total
}

// document counts what a document holds: the objects, or in a list the operations of a patch and the replacements.
func (c *crowd) document(n *yaml.Node, folders int) error {
	if len(n.Content) > 0 {
		if list := resolve(n.Content[0]); list.Kind == yaml.SequenceNode {
			return c.change(max(1, entries(list)), folders)
		}
	}
	return c.add(objects(n), folders)
}

// entries counts the operations or the replacements in a list, and each field that one replaces.
func entries(list *yaml.Node) int {
	total := 0
	for _, item := range list.Content {
		total += max(1, replacedFields(resolve(item)))
	}
	return total
}

// replacedFields counts the fields that a replacement names, and what it rejects, also by merge keys. What contains itself was refused before.
func replacedFields(n *yaml.Node) int {
	total := 0
	for i, child := range n.Content {
		child = resolve(child)
		if n.Kind == yaml.MappingNode && i%2 == 1 && (strings.EqualFold(n.Content[i-1].Value, "fieldPaths") || strings.EqualFold(n.Content[i-1].Value, "reject")) {
			total += len(child.Content)
		}
		total += replacedFields(child)
	}
	return total
}

// crowd counts what a kustomization generates, and its entries that go through all objects.
func (f file) crowd(k types.Kustomization) error {
	n := len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Images) + len(k.Replicas) + len(k.CommonAnnotations)
	replaced := 0
	for _, r := range k.Replacements {
		for _, t := range r.Targets {
			replaced += max(1, len(t.FieldPaths)+len(t.Reject))
		}
	}
	for _, l := range k.Labels {
		n += len(l.Pairs)
	}
	//lint:ignore SA1019 kustomize still reads it
	n += len(k.CommonLabels)
	//lint:ignore SA1019 kustomize still reads it
	n += len(k.Vars)
	f.budget.images += len(k.Images)
	err := f.budget.crowd.add(n, len(f.stack))
	if err == nil {
		err = f.budget.crowd.change(replaced, len(f.stack))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}
