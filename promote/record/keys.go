package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineLimit is how long a value may be that stands in one line. With what stands
// before it the line has fewer than 200 characters, as yamllint is often told.
const lineLimit = 160

// keysOf are the keys of a Record or an Entry with their values, a line each: a value
// that is too long for that has lines of its own.
func keysOf(of any) (string, error) {
	var node yaml.Node
	if err := node.Encode(of); err != nil {
		return "", err
	}
	for _, value := range node.Content {
		if err := fold(value); err != nil {
			return "", err
		}
	}
	return inYAML(&node)
}

// fold writes a value in one line where that is short.
func fold(value *yaml.Node) error {
	if value.Kind == yaml.ScalarNode {
		return nil
	}
	value.Style = yaml.FlowStyle
	text, err := inYAML(value)
	if err != nil || len(text) <= lineLimit {
		return err
	}
	value.Style = 0
	for _, below := range value.Content {
		if err := fold(below); err != nil {
			return err
		}
	}
	return nil
}

func inYAML(node *yaml.Node) (string, error) {
	var b strings.Builder
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	err := encoder.Encode(node)
	return b.String(), err
}

// indented are the lines of an entry as they stand in the list past.
func indented(keys string) string {
	var b strings.Builder
	lead := "  - "
	for line := range strings.Lines(keys) {
		if line != "\n" {
			b.WriteString(lead)
		}
		b.WriteString(line)
		lead = "    "
	}
	return b.String()
}

// readRecord reads the lines of a record.
func readRecord(text []byte) (Record, error) {
	root, err := onlyMapping(text)
	if err != nil {
		return Record{}, err
	}
	var r Record
	if err := root.Decode(&r); err != nil {
		return Record{}, err
	}
	all := slices.Collect(strings.Lines(string(text)))
	keys := keysIn(root, all)
	if i := slices.IndexFunc(keys, func(k recordKey) bool { return k.key.Value == "past" }); i >= 0 {
		if r.Past, err = readPast(keys[i].value, all[:keys[i].end]); err != nil {
			return Record{}, err
		}
		keys = slices.Delete(keys, i, i+1)
	}
	r.Unknown, err = unknownTo(reflect.TypeFor[Record](), keys, all, 0)
	return r, err
}

// unknownTo are the lines of the keys that a Record or an Entry does not have.
func unknownTo(of reflect.Type, keys []recordKey, lines []string, indentation int) (unknown string, err error) {
	for _, k := range keys {
		if knows(of, k.key.Value) {
			continue
		}
		text, err := k.text(lines, indentation)
		if err != nil {
			return "", err
		}
		unknown += text
	}
	return unknown, nil
}

// readPast reads the entries of a record, of which lines are all up to their end.
func readPast(past *yaml.Node, lines []string) ([]Entry, error) {
	if past.Kind != yaml.SequenceNode {
		return nil, errors.New("past is no list")
	}
	var entries []Entry
	for i, item := range past.Content {
		var e Entry
		if err := item.Decode(&e); err != nil {
			return nil, err
		}
		end := len(lines)
		if i+1 < len(past.Content) {
			end = past.Content[i+1].Line - 1
		}
		var err error
		if e.Unknown, err = unknownTo(reflect.TypeFor[Entry](), keysIn(item, lines[:end]), lines, indentationOf(item)); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// indentationOf is that of an entry's keys: a tag may stand before them, and a sign that
// a key follows before the first one.
func indentationOf(entry *yaml.Node) int {
	column := entry.Column
	if len(entry.Content) > 0 {
		column = min(column, entry.Content[0].Column)
	}
	return column - 1
}

// onlyMapping is the one mapping of a text, without values that stand elsewhere in it:
// a key that is kept would lose them.
func onlyMapping(text []byte) (*yaml.Node, error) {
	var document, more yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); err != nil {
		return nil, err
	}
	root := document.Content[0]
	switch err := decoder.Decode(&more); {
	case !errors.Is(err, io.EOF):
		return nil, errors.New("it has more than one YAML document")
	case root.Kind != yaml.MappingNode || root.Line != 1:
		return nil, errors.New("its first line is no key")
	}
	return root, checkAliases(root)
}

func checkAliases(node *yaml.Node) error {
	switch {
	case node.Kind == yaml.AliasNode || node.Anchor != "":
		return fmt.Errorf("line %d: an anchor or an alias", node.Line)
	case node.Tag == "!!merge": // which sets what other lines leave out
		return fmt.Errorf("line %d: a merge key", node.Line)
	}
	for _, below := range node.Content {
		if err := checkAliases(below); err != nil {
			return err
		}
	}
	return nil
}

// A recordKey is a key of a record or of an entry, and where its lines are.
type recordKey struct {
	key, value *yaml.Node
	start, end int
	ownLines   bool
}

// keysIn are the keys of a mapping, which ends with the last of the lines.
func keysIn(mapping *yaml.Node, lines []string) []recordKey {
	var keys []recordKey
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		k := recordKey{key: mapping.Content[i], value: mapping.Content[i+1], end: len(lines), ownLines: mapping.Style&yaml.FlowStyle == 0}
		k.start = k.key.Line - 1
		if i+2 < len(mapping.Content) {
			k.end = mapping.Content[i+2].Line - 1
		}
		keys = append(keys, k)
	}
	return keys
}

// text are the key's lines without their indentation, byte for byte. The first one may
// have the dash of an entry before it.
func (k recordKey) text(lines []string, indentation int) (string, error) {
	if !k.ownLines {
		return inYAML(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{k.key, k.value}})
	}
	var b strings.Builder
	for i, line := range lines[k.start:k.end] {
		blanks := len(line) - len(strings.TrimLeft(line, " "))
		if i == 0 && len(line) >= indentation {
			blanks = indentation
		}
		b.WriteString(line[min(blanks, indentation):])
	}
	return b.String(), nil
}

// knows tells whether a Record or an Entry has the key.
func knows(of reflect.Type, key string) bool {
	for i := range of.NumField() {
		field := of.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == key && name != "-" || option == "inline" && knows(field.Type, key) {
			return true
		}
	}
	return false
}
