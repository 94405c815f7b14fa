package kustomize

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Limits on one YAML document. kustomize replaces each alias by a copy of what it stands for, so that half a kilobyte
// can become billions of values; these are counted before anything is copied.
const (
	maxNodes = 1_000_000 // values of a file, aliases expanded
	maxDepth = 200       // levels of nesting, aliases expanded
)

// checkAliases returns an error if n, with its aliases expanded, is too large or contains itself.
func checkAliases(n *yaml.Node) error {
	_, err := expandedSize(n)
	return err
}

func expandedSize(n *yaml.Node) (int, error) {
	c := counter{sizes: map[*yaml.Node]size{}}
	s, err := c.count(n, 0)
	return s.nodes, err
}

type size struct{ nodes, depth int }

type counter struct {
	sizes map[*yaml.Node]size // of the anchors seen; the zero size while one is being counted
}

func (c *counter) count(n *yaml.Node, depth int) (size, error) {
	if depth > maxDepth {
		return size{}, fmt.Errorf("nests values deeper than %d levels", maxDepth)
	}
	if n.Kind == yaml.AliasNode {
		return c.anchor(n.Alias, depth)
	}
	total := size{nodes: 1, depth: 1}
	for _, child := range n.Content {
		s, err := c.count(child, depth+1)
		if err != nil {
			return size{}, err
		}
		total.nodes += s.nodes
		total.depth = max(total.depth, s.depth+1)
		if total.nodes > maxNodes {
			return size{}, fmt.Errorf("holds more than %d values with its aliases expanded", maxNodes)
		}
	}
	return total, nil
}

func (c *counter) anchor(n *yaml.Node, depth int) (size, error) {
	known, seen := c.sizes[n]
	if !seen {
		c.sizes[n] = size{}
		var err error
		if known, err = c.count(n, depth); err != nil {
			return size{}, err
		}
		c.sizes[n] = known
	}
	switch {
	case known.nodes == 0:
		return size{}, fmt.Errorf("has an anchor &%s that contains itself", n.Anchor)
	case depth+known.depth > maxDepth:
		return size{}, fmt.Errorf("nests values deeper than %d levels", maxDepth)
	}
	return known, nil
}
