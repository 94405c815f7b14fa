package jsonpath

import (
	"errors"
	"fmt"

	"k8s.io/client-go/util/jsonpath"
)

// What a path may have. A descent gives each value that is there, once; a second one
// gives each as often as it is deep. Whatever gives several values for one may give
// the same ones again, as ['a','a'] does.
const (
	maxPath     = 1000 // bytes
	maxSteps    = 50   // in all of it
	maxParts    = 8    // {…} and texts between them, which all look through the answer
	maxDescents = 1    // ..
	maxWide     = 8    // [*], [a:b], [?()], and the entries of [a,b]
	maxRanges   = 1    // {range}; without an {end} each doubles what comes after it
)

// Check says what is wrong with a path.
func Check(path string) error {
	_, err := read(path)
	return err
}

// needs are what a path has of that which takes time.
type needs struct{ steps, parts, descents, wide, ranges int }

// read is what a path needs, or an error where it is none or needs too much.
// Kubernetes' parser panics at some texts that are no path.
func read(path string) (n needs, err error) {
	defer func() {
		if recover() != nil {
			n, err = needs{}, errors.New("is no JSONPath: expected one such as {.data.value}")
		}
	}()
	if len(path) > maxPath {
		return n, fmt.Errorf("has %d bytes, expected at most %d", len(path), maxPath)
	}
	parser, err := jsonpath.Parse("", path)
	if err != nil {
		return n, err
	}
	n.parts = len(parser.Root.Nodes)
	n.add(parser.Root)
	for _, of := range []struct {
		name      string
		has, most int
	}{
		{"..", n.descents, maxDescents},
		{"[*], [a:b], [?()] or an entry of [a,b]", n.wide, maxWide},
		{"{range}", n.ranges, maxRanges},
		{"{…} or a text", n.parts, maxParts},
		{"a step", n.steps, maxSteps},
	} {
		if of.has > of.most {
			return n, fmt.Errorf("has %s %d times, expected at most %d", of.name, of.has, of.most)
		}
	}
	return n, nil
}

// add counts a step and those in it.
func (n *needs) add(node jsonpath.Node) {
	n.steps++
	switch node := node.(type) {
	case *jsonpath.ListNode:
		for _, child := range node.Nodes {
			n.add(child)
		}
	case *jsonpath.UnionNode:
		n.wide += len(node.Nodes)
		for _, child := range node.Nodes {
			n.add(child)
		}
	case *jsonpath.FilterNode:
		n.wide++
		n.add(node.Left)
		n.add(node.Right)
	case *jsonpath.ArrayNode:
		if !node.Params[1].Derived { // by one place
			n.wide++
		}
	case *jsonpath.WildcardNode:
		n.wide++
	case *jsonpath.RecursiveNode:
		n.descents++
	case *jsonpath.IdentifierNode:
		if node.Name == "range" {
			n.ranges++
		}
	}
}
