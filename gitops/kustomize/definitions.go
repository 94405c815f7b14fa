package kustomize

import (
	"fmt"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

// maxDefinitions is how many definitions one of crds: may come to. kustomize follows each reference as often as it is there, and one
// that leads back without an end.
// https://github.com/kubernetes-sigs/kustomize/blob/api/v0.20.1/api/internal/accumulator/loadconfigfromcrds.go
const maxDefinitions = 2_000

// definitions is an error where those of a file of crds: come to too many.
func (f file) definitions(entry string) error {
	at, _, err := f.locate("crds", entry)
	if err != nil {
		return err
	}
	content, err := f.confined.ReadFile(path.Join(confinedRoot, at))
	if err != nil {
		return err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(content, &root); err != nil || len(root.Content) == 0 {
		return err
	}
	all, d := resolve(root.Content[0]), definitions{refers: map[string][]string{}, sizes: map[string]int{}}
	for i := 0; i+1 < len(all.Content); i += 2 {
		d.refers[path.Base(all.Content[i].Value)] = references(all.Content[i+1])
	}
	for name := range d.refers {
		if _, err := d.size(name); err != nil {
			return err
		}
	}
	return nil
}

// definitions are the names that each one refers to, and how many it comes to; 0 while that is counted.
type definitions struct {
	refers map[string][]string
	sizes  map[string]int
}

func (d definitions) size(name string) (int, error) {
	size, seen := d.sizes[name]
	switch {
	case seen && size == 0:
		return 0, fmt.Errorf("the definition %s refers to itself: leave out what refers to it", oneline.Brief(name))
	case seen:
		return size, nil
	}
	d.sizes[name], size = 0, 1
	for _, next := range d.refers[name] {
		more, err := d.size(next)
		if size += more; err != nil {
			return 0, err
		}
		if size > maxDefinitions {
			return 0, fmt.Errorf("the definition %s comes to more than %d with all that it refers to: write fewer references", oneline.Brief(name), maxDefinitions)
		}
	}
	d.sizes[name] = size
	return size, nil
}

// references are the names that $ref has somewhere in a value.
func references(n *yaml.Node) (names []string) {
	n = resolve(n)
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "$ref" {
			names = append(names, path.Base(resolve(child).Value))
		}
		names = append(names, references(child)...)
	}
	return names
}
