package kustomize

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	k8syaml "sigs.k8s.io/yaml"
)

// scalarSpan returns where the text of a one-line scalar begins and ends, and in which quotes it stands.
func (d *document) scalarSpan(n *yaml.Node) (from, to int, quote string, err error) {
	if hint := uneditable(n); hint != "" {
		return 0, 0, "", fmt.Errorf("line %d: %s; write the value itself there", n.Line, hint)
	}
	from = d.offset(n)
	rest := d.text[from:]
	switch {
	case n.Style == yaml.DoubleQuotedStyle:
		to, quote = from+quotedLen(rest, '"'), `"`
	case n.Style == yaml.SingleQuotedStyle:
		to, quote = from+quotedLen(rest, '\''), `'`
	case strings.HasPrefix(rest, n.Value):
		to = from + len(n.Value)
	default:
		return 0, 0, "", fmt.Errorf("line %d: the value goes over several lines; write it on one line", n.Line)
	}
	return from, to, quote, nil
}

// uneditable says why the value of n cannot be replaced on its own, or nothing.
func uneditable(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.AliasNode:
		return "the value is the alias *" + n.Value
	case n.Kind != yaml.ScalarNode:
		return "the value is " + kindName(n)
	case n.Anchor != "":
		return "the value carries the anchor &" + n.Anchor
	case n.Style&yaml.TaggedStyle != 0:
		return "the value carries the tag " + n.Tag
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return "the value is a block scalar"
	}
	return ""
}

// unmovable says why text cannot be added to the collection n, or nothing: an anchor or a tag stands where its first
// value is expected.
func unmovable(n *yaml.Node) string {
	switch {
	case n.Anchor != "":
		return "carries the anchor &" + n.Anchor
	case n.Style&yaml.TaggedStyle != 0:
		return "carries the tag " + n.Tag
	}
	return ""
}

// quotedLen is the length of the quoted scalar at the start of text.
func quotedLen(text string, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && strings.HasPrefix(text[i+1:], "'"):
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// scalar writes value in the quotes asked for; without quotes only where every YAML reader takes it for this string.
func scalar(value, quote string) string {
	switch {
	case quote == "'" && printable(value):
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	case quote == "" && isPlain(value):
		return value
	}
	quoted, _ := json.Marshal(value) // a JSON string is a double quoted YAML scalar
	return string(quoted)
}

// isPlain asks a YAML 1.2 and a YAML 1.1 reader, the latter being the one that kustomize uses: 1.10, 1e3, on and
// 2024-01-01 are not strings to one or both of them.
func isPlain(value string) bool {
	if !printable(value) {
		return false
	}
	var here map[string]any
	if err := yaml.Unmarshal([]byte("{v: "+value+"}"), &here); err != nil || here["v"] != value || len(here) != 1 {
		return false
	}
	var there map[string]any
	err := k8syaml.Unmarshal([]byte("v: "+value+"\n"), &there)
	return err == nil && there["v"] == value && len(there) == 1
}

func printable(value string) bool {
	for _, r := range value {
		if r <= ' ' || r > '~' {
			return false
		}
	}
	return value != ""
}
