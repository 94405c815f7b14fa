package manifest

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"
)

// SaysTheSame tells whether two texts are the same YAML but for comments, blank space, quotes and what documents of
// comments alone are between. Text that is no YAML is compared as it is.
func SaysTheSame(before, after []byte) bool {
	was, errWas := roots(before)
	is, errIs := roots(after)
	if errWas != nil || errIs != nil {
		return bytes.Equal(before, after)
	}
	return slices.EqualFunc(was, is, sameTree)
}

// roots are the documents of a text that say something.
func roots(text []byte) (all []*yaml.Node, err error) {
	for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var root yaml.Node
		switch err := decoder.Decode(&root); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		if len(root.Content) > 0 && root.Content[0].ShortTag() != "!!null" {
			all = append(all, root.Content[0])
		}
	}
}

// sameTree compares aliases by their names, so that one that stands for much is not followed.
func sameTree(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Anchor != b.Anchor || a.ShortTag() != b.ShortTag() {
		return false
	}
	if len(a.Content) == 0 && len(b.Content) == 0 {
		return same(a, b)
	}
	return slices.EqualFunc(a.Content, b.Content, sameTree)
}
