package kustomize

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// field returns the key and value of key in the mapping m, or nils. kustomize ignores the case of keys, so that an
// Images: beside ours would be read too: such a key is an error.
func field(m *yaml.Node, key string) (k, v *yaml.Node, err error) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		name := m.Content[i].Value
		switch {
		case name == key:
			k, v = m.Content[i], m.Content[i+1]
		case m.Content[i].Tag == "!!merge":
			return nil, nil, fmt.Errorf("line %d: the merge key << brings in values from elsewhere; write them out", m.Content[i].Line)
		case strings.EqualFold(name, key):
			return nil, nil, fmt.Errorf("line %d: key %q should be written %q", m.Content[i].Line, name, key)
		}
	}
	return k, v, nil
}

// next returns the node after k and its value in m, or nil when they are the last.
func next(m, k *yaml.Node) *yaml.Node {
	for i := 0; i+2 < len(m.Content); i += 2 {
		if m.Content[i] == k {
			return m.Content[i+2]
		}
	}
	return nil
}

func isFlow(n *yaml.Node) bool { return n.Style&yaml.FlowStyle != 0 }

// setField makes key in the mapping m have the value. A new key goes after the last of those in after that m has;
// limit is the line after m's content.
func (d *document) setField(m *yaml.Node, limit int, key, value string, after ...string) ([]edit, error) {
	_, v, err := field(m, key)
	switch {
	case err != nil:
		return nil, err
	case v == nil:
		return d.addField(m, limit, key, value, after)
	case resolve(v).Value == value && resolve(v).ShortTag() == "!!str":
		return nil, nil
	case v.Kind == yaml.ScalarNode && v.Value == "" && v.Style == 0 && v.Anchor == "":
		k, _, _ := field(m, key)
		_, to, _, err := d.scalarSpan(k)
		to += strings.Index(d.text[to:], ":") + 1
		return []edit{{to, to, " " + scalar(value, "")}}, err
	}
	from, to, quote, err := d.scalarSpan(v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return []edit{{from, to, scalar(value, quote)}}, nil
}

func (d *document) addField(m *yaml.Node, limit int, key, value string, after []string) ([]edit, error) {
	var k, v *yaml.Node
	for _, name := range after {
		if found, itsValue, err := field(m, name); err != nil {
			return nil, err
		} else if found != nil {
			k, v = found, itsValue
		}
	}
	text := key + ": " + scalar(value, "")
	if isFlow(m) {
		_, to, _, err := d.scalarSpan(v)
		return []edit{{to, to, ", " + text}}, err
	}
	if n := next(m, k); n != nil {
		limit = n.Line - 1
	}
	at := d.contentEnd(v, limit)
	return []edit{d.insertLines(at, []string{strings.Repeat(" ", m.Column-1) + text})}, nil
}

// removeField takes key out of the mapping m, if it is there. Other keys must remain.
func (d *document) removeField(m *yaml.Node, limit int, key string) ([]edit, error) {
	k, v, err := field(m, key)
	if k == nil || err != nil {
		return nil, err
	}
	if isFlow(m) {
		return d.removeFlowField(m, k, v)
	}
	following := next(m, k)
	if following != nil {
		limit = following.Line - 1
	}
	end := d.contentEnd(v, limit)
	if d.text[d.lines[k.Line-1]:d.offset(k)] == strings.Repeat(" ", k.Column-1) {
		return []edit{d.deleteLines(k.Line-1, end)}, nil
	}
	return d.removeFirstField(k, v, following)
}

// removeFirstField takes out a key that stands on the line of its list item's dash.
func (d *document) removeFirstField(k, v, following *yaml.Node) ([]edit, error) {
	from := d.offset(k)
	_, to, _, err := d.scalarSpan(v)
	if err != nil {
		return nil, err
	}
	if start := d.offset(following); strings.TrimSpace(d.text[to:start]) == "" {
		return []edit{{from, start, ""}}, nil
	}
	return []edit{{from, to, ""}}, nil // a comment follows, which stays
}

func (d *document) removeFlowField(m, k, v *yaml.Node) ([]edit, error) {
	if following := next(m, k); following != nil {
		return []edit{{d.offset(k), d.offset(following), ""}}, nil
	}
	_, to, _, err := d.scalarSpan(v)
	if err != nil || len(m.Content) == 2 {
		return []edit{{d.offset(k), to, ""}}, err
	}
	_, from, _, err := d.scalarSpan(m.Content[len(m.Content)-3])
	return []edit{{from, to, ""}}, err
}
