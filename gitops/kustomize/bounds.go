package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

// Limits on YAML. kustomize replaces each alias by a copy of what it stands for, so that half a kilobyte can become
// billions of values; these are counted before anything is copied.
const (
	maxNodes      = 500_000      // values of an overlay, aliases expanded
	maxIndicators = 2 * maxNodes // characters of one file that begin a value, or might
	maxDepth      = 300          // levels of nesting, aliases expanded
)

// budget is what an overlay holds.
type budget struct {
	nodes             int
	images            int // that are set
	indicators, depth int // the most of one file, and of one document
	crowd             crowd
}

// spend parses content, which is read so many folders deep, hands each document to visit, and returns an error if it is
// not YAML or holds too much.
func (b *budget) spend(content []byte, folders int, visit func(*yaml.Node) error) error {
	// A value needs at least one of these characters; far too many are refused before they are parsed.
	b.indicators = max(b.indicators, countAny(content, ",:-[{\n"))
	if b.indicators > maxIndicators {
		return fmt.Errorf("holds too many values; at most %d are rendered", maxNodes)
	}
	if line := oddBreak.Find(content); line != nil {
		return fmt.Errorf("has %q, at which kustomize may divide documents otherwise than YAML does: write --- alone in its line, and end lines with a line feed", oneline.Brief(strings.Trim(string(line), "\n")))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(content))
	for {
		var n yaml.Node
		switch err := decoder.Decode(&n); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := b.count(&n); err != nil {
			return err
		}
		if err := b.crowd.document(&n, folders); err != nil {
			return err
		}
		for _, root := range n.Content {
			for _, one := range listed(root) {
				if exact(one, "kind") == "ImageTagTransformer" {
					b.images++
				}
			}
		}
		if err := visit(&n); err != nil {
			return err
		}
	}
}

// check is an error where values and what goes through them are too many together.
func (b *budget) check() error {
	if b.looks() > maxLooks {
		return fmt.Errorf("its %d values and %d entries of images come to more than %d looks, each value counted for every entry: split it, or set fewer images", b.nodes, b.images, maxLooks)
	}
	return nil
}

// looks are how often a value is looked at for an image.
func (b *budget) looks() int { return b.nodes * b.images }

// oddBreak finds a line that begins as the end of a document does, or a break of lines other than a line feed.
// https://github.com/kubernetes-sigs/kustomize/blob/kyaml/v0.20.1/kyaml/kio/byteio_reader.go
var oddBreak = regexp.MustCompile(`(?m)^---[^ \t\r\n][^\n]*|^---[ \t]+[^# \t\r\n][^\n]*|\r[^\n]|\x{85}|\x{2028}|\x{2029}`)

func countAny(content []byte, chars string) int {
	total := 0
	for i := range len(chars) {
		total += bytes.Count(content, []byte{chars[i]})
	}
	return total
}

func (b *budget) count(n *yaml.Node) error {
	c := counter{sizes: map[*yaml.Node]size{}}
	s, err := c.count(n, 0)
	if err != nil {
		return err
	}
	if b.nodes += s.nodes; b.nodes > maxNodes {
		return fmt.Errorf("the overlay holds more than %d values", maxNodes)
	}
	b.depth = max(b.depth, s.depth)
	return nil
}

type size struct{ nodes, depth, bytes int }

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
	if n.Style&yaml.TaggedStyle != 0 && !slices.Contains(usualTags, n.ShortTag()) {
		return size{}, fmt.Errorf("line %d has the tag %s, by which kustomize reads another value than is written: write that value", n.Line, oneline.Brief(n.ShortTag()))
	}
	total := size{nodes: 1, depth: 1, bytes: len(n.Value)}
	for _, child := range n.Content {
		s, err := c.count(child, depth+1)
		if err != nil {
			return size{}, err
		}
		total.nodes += s.nodes
		total.bytes += s.bytes
		total.depth = max(total.depth, s.depth+1)
		if total.nodes > maxNodes {
			return size{}, fmt.Errorf("holds more than %d values with its aliases expanded", maxNodes)
		}
		if total.bytes > maxTotalSize {
			return size{}, fmt.Errorf("holds more than %d bytes with its aliases expanded", maxTotalSize)
		}
	}
	return total, oddKey(n) // nothing below contains itself
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

// usualTags are those that leave a value as it is written.
var usualTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp", "!!merge"}
