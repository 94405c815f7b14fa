package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maybeSecret finds what may be the kind of a Secret, and kindRow only where it is a key: at the
// beginning of a row, or behind a brace or a comma. In other places it is words of somebody's.
var (
	maybeSecret = regexp.MustCompile(`(?i)kind[\\"']*\s*:\s*[\\"']*secret\b`)
	kindRow     = regexp.MustCompile(`(?im)(?:^[ \t-]*|[{,]\s*)["']?kind["']?\s*:\s*["']?secret["']?\s*(?:[,}#]|$)`)
)

// secretManifest tells whether a text has the manifest of a Secret in it, such as a ConfigMap's file.
// One that cannot be read as YAML to its end may be a program; its rows are hidden alone.
func secretManifest(text string) bool {
	if !maybeSecret.MatchString(text) || strings.Contains(text, "$(") || strings.Contains(text, "`") {
		return false // or a shell runs what is in it
	}
	has := false
	for documents := yaml.NewDecoder(bytes.NewReader([]byte(text))); ; {
		var root yaml.Node
		if err := documents.Decode(&root); err != nil {
			return has && errors.Is(err, io.EOF)
		}
		has = has || ofSecret(&root)
	}
}

// mayBeManifest tells whether a file of this name may be a manifest. One that is called otherwise may be a script, whatever it begins with, but
// for JSON, which runs nothing.
func mayBeManifest(name, text string) bool {
	return strings.HasPrefix(text, "{") && json.Valid([]byte(text)) || slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(strings.ToLower(name)))
}

// ofSecret tells whether a mapping is a Secret, or has one below or in a text of its own. What is
// an alias is there once more.
func ofSecret(node *yaml.Node) bool {
	if node.Kind == yaml.ScalarNode {
		return kindRow.MatchString(node.Value)
	}
	if node.Kind == yaml.MappingNode && strings.EqualFold(scalar(field(node, "kind")), "Secret") {
		return true
	}
	for _, below := range node.Content {
		if ofSecret(below) {
			return true
		}
	}
	return false
}

// show notes the texts of a command. Whoever reviews a change must see what will run, whatever it looks like.
func (v *vault) show(node *yaml.Node) {
	v.runs[node] = true
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			v.runs[item] = true
		}
	}
}
