package strictyaml

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/acme/knative-promote/internal/oneline"
)

// WordLimit is how many bytes a Text may have.
const WordLimit = 300

// Fields are the keys of a mapping with their values.
type Fields struct {
	Node  *yaml.Node
	Name  string   // of the mapping, for errors
	Keys  []string // in their order
	Nodes map[string]*yaml.Node
}

// FieldsOf reads a mapping that has no other keys than the known ones.
func FieldsOf(n *yaml.Node, name string, known ...string) (Fields, error) {
	return read(n, name, "a mapping with "+Names(known), func(key *yaml.Node) error {
		if key.Kind == yaml.ScalarNode && slices.Contains(known, key.Value) {
			return nil
		}
		return Wrong(key, "%s: the key %s is not known: expected %s", name, Shown(key), Names(known))
	})
}

// NamesOf reads a mapping whose keys are names that good accepts; of others it
// says what is expected.
func NamesOf(n *yaml.Node, name, expected string, good func(string) bool) (Fields, error) {
	return read(n, name, "a mapping with "+expected, func(key *yaml.Node) error {
		if key.Kind == yaml.ScalarNode && good(key.Value) {
			return nil
		}
		return Wrong(key, "%s: %s: expected %s", name, Shown(key), expected)
	})
}

func read(n *yaml.Node, name, expected string, refuse func(key *yaml.Node) error) (Fields, error) {
	f := Fields{Node: n, Name: name, Nodes: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		return f, Wrong(n, "%s: %s: expected %s", name, Shown(n), expected)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if err := refuse(key); err != nil {
			return f, err
		}
		if f.Nodes[key.Value] != nil {
			return f, Wrong(key, "%s: %s is there twice: expected it once", name, key.Value)
		}
		f.Keys, f.Nodes[key.Value] = append(f.Keys, key.Value), n.Content[i+1]
	}
	return f, nil
}

// Has counts which of some keys are there.
func (f Fields) Has(keys ...string) (n int) {
	for _, key := range keys {
		if f.Nodes[key] != nil {
			n++
		}
	}
	return n
}

// Words is the Text of a key; empty where the key is not there.
func (f Fields) Words(key string) (string, error) {
	n := f.Nodes[key]
	if n == nil {
		return "", nil
	}
	return f.Text(key, n)
}

// Text is a scalar of one printable line that is not empty, below a key. Lines
// that YAML folds or keeps become one.
func (f Fields) Text(key string, n *yaml.Node) (string, error) {
	line := strings.Join(strings.Fields(n.Value), " ")
	unprintable := strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) })
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || line == "" || len(line) > WordLimit || unprintable || !utf8.ValidString(line) {
		return "", Wrong(n, "%s: %s: %s: expected printable text of %d bytes at most", f.Name, key, Shown(n), WordLimit)
	}
	return line, nil
}

// Flag is true or false; otherwise where the key is not there.
func (f Fields) Flag(key string, otherwise bool) (bool, error) {
	n := f.Nodes[key]
	switch {
	case n == nil:
		return otherwise, nil
	case n.Kind == yaml.ScalarNode && (n.Value == "true" || n.Value == "false"):
		return n.Value == "true", nil
	}
	return false, Wrong(n, "%s: %s: %s: expected true or false", f.Name, key, Shown(n))
}

// Shown is what stands there, as an error quotes it.
func Shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "an alias, which is not read"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Value == "":
		return "nothing"
	}
	return strconv.Quote(oneline.Of(n.Value, 60))
}

// Names is a list of names in words.
func Names(all []string) string {
	last := len(all) - 1
	if last < 1 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
