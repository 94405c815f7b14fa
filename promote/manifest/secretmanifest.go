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

// Limits on a text that is read as YAML, which takes some 300 times as many bytes, and is written with blanks before what is
// deep in it.
const (
	mostManifest = 128 << 10
	mostDepth    = 32
)

// unreadable stands for what is beside a Secret in a text that is not read.
const unreadable = "nothing of this text is shown, since a Secret's manifest is in it and it is larger than 128 KiB or deeper than 32 levels: read it in Git\n"

// hideManifest hides of a text what a Secret's manifest in it holds. What else is in the text is shown as any YAML says it, and
// that something of it changes also where it means the same. A text with none is not done here.
func (v *vault) hideManifest(text string) (shown string, done bool) {
	if !maybeSecret.MatchString(text) {
		return "", false
	}
	if len(text) > mostManifest {
		return unreadable + v.hide(text), true
	}
	if (strings.Contains(text, "$(") || strings.Contains(text, "`")) && !json.Valid([]byte(text)) {
		return "", false // a shell may run what is in it
	}
	var all []*yaml.Node
	for documents := yaml.NewDecoder(strings.NewReader(text)); ; {
		var root yaml.Node
		if err := documents.Decode(&root); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", false // it may be a program; its rows are hidden alone
		}
		if deeper(&root, mostDepth) {
			return unreadable + v.hide(text), true
		}
		all = append(all, &root)
	}
	if !slices.ContainsFunc(all, ofSecret) {
		return "", false
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	for _, root := range all {
		v.showCommands(root)
		v.hideRows(root)
		v.redact(root)
		if err := encoder.Encode(root); err != nil {
			return v.hide(text), true
		}
	}
	return b.String() + v.hide(text), true
}

// deeper tells whether a node has others below it at more than so many levels.
func deeper(node *yaml.Node, levels int) bool {
	return levels < 0 || slices.ContainsFunc(node.Content, func(below *yaml.Node) bool { return deeper(below, levels-1) })
}

// showCommands notes what runs below a node, and images, before anything is hidden: a Secret may name them by an alias.
func (v *vault) showCommands(node *yaml.Node) {
	for i, below := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 1 && slices.Contains([]string{"command", "args", "image"}, strings.ToLower(node.Content[i-1].Value)) {
			v.show(below)
		}
		v.showCommands(below)
	}
}

// hideRows hides the texts below a node that are a Secret's manifest, or what a template makes one of.
func (v *vault) hideRows(node *yaml.Node) {
	if node.Kind == yaml.ScalarNode && !v.runs[node] && kindRow.MatchString(node.Value) {
		v.hideScalar(node)
	}
	for _, below := range node.Content {
		v.hideRows(below)
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
