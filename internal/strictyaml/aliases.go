package strictyaml

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// maxDepth is how many levels of nesting a document may have, aliases expanded.
const maxDepth = 100

// Bounded is nil if a document has at most so many bytes in its texts and values
// when its aliases are expanded: a decoder replaces each by a copy, so that half a
// kilobyte can become gigabytes. The error is also that of one that is no YAML.
func Bounded(document []byte, most int) error {
	var root yaml.Node
	if err := yaml.Unmarshal(document, &root); err != nil {
		return err
	}
	b := budget{most: most, left: most}
	return b.spend(&root, 0)
}

type budget struct{ most, left int }

// spend ends at the depth for an alias that stands for itself.
func (b *budget) spend(node *yaml.Node, depth int) error {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	b.left -= len(node.Value) + 1
	switch {
	case depth > maxDepth:
		return fmt.Errorf("is nested more than %d levels deep", maxDepth)
	case b.left < 0:
		return fmt.Errorf("is longer than %d bytes with its aliases expanded", b.most)
	}
	for _, below := range node.Content {
		if err := b.spend(below, depth+1); err != nil {
			return err
		}
	}
	return nil
}
