package kustomize

import (
	"fmt"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/types"
)

// Limits on the objects of an overlay. kustomize compares each with all others, in each folder that takes them over, and
// goes through all of them for each image, label or replacement, so the time grows as their square: four thousand empty
// ones take about eight seconds, twice as many four times as long. A rollback renders an overlay about five times.
const (
	maxObjects = 4_000  // documents, items of lists, what is generated, and entries that change objects
	maxPassed  = 16_000 // the same, each counted in every folder on its way to the overlay
)

// crowd is how many objects an overlay holds.
type crowd struct{ objects, passed int }

// add counts n objects that are so many folders deep.
func (c *crowd) add(n, folders int) error {
	c.objects += n
	c.passed += n * folders
	switch {
	case c.objects > maxObjects:
		return fmt.Errorf("the overlay holds more than %d objects, patches and entries that change them: split it", maxObjects)
	case c.passed > maxPassed:
		return fmt.Errorf("the objects of the overlay come to more than %d, counted in each folder that takes them over: split it, or use fewer folders", maxPassed)
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
		case key == "<<" && value.Kind == yaml.MappingNode:
			total += objects(value) - 1
		case key == "<<" || key == "items" && value.Kind == yaml.SequenceNode:
			for _, item := range value.Content {
				total += objects(item)
			}
		}
	}
	return total
}

// crowd counts what a kustomization generates, and its entries that go through all objects.
func (f file) crowd(k types.Kustomization) error {
	n := len(k.ConfigMapGenerator) + len(k.SecretGenerator) + len(k.Images) + len(k.Replicas) + len(k.CommonAnnotations)
	for _, r := range k.Replacements {
		n += len(r.Targets)
	}
	for _, l := range k.Labels {
		n += len(l.Pairs)
	}
	//lint:ignore SA1019 kustomize still reads it
	n += len(k.CommonLabels)
	//lint:ignore SA1019 kustomize still reads it
	n += len(k.Vars)
	if err := f.budget.crowd.add(n, len(f.stack)); err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}
