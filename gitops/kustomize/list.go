package kustomize

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// list is a top-level list of the kustomization, such as images.
type list struct {
	*document
	key   string
	k, v  *yaml.Node // the key and its value; nil when the key is missing
	limit int        // the line of the next top-level key, or of the document's end
}

func (d *document) list(key string) (list, error) {
	k, v, err := field(d.root, key)
	if err != nil {
		return list{}, err
	}
	l := list{document: d, key: key, k: k, v: v}
	switch {
	case isFlow(d.root):
		return l, fmt.Errorf("the kustomization is written in flow style {…}; write it as a block, one key a line")
	case k == nil || v.ShortTag() == "!!null":
	case v.Kind != yaml.SequenceNode:
		return l, fmt.Errorf("line %d: %s is %s; expected a list", k.Line, key, kindName(v))
	case unmovable(v) != "":
		return l, fmt.Errorf("line %d: %s %s; write the list out", k.Line, key, unmovable(v))
	}
	l.limit = d.end()
	if k != nil {
		if following := next(d.root, k); following != nil {
			l.limit = following.Line - 1
		}
	}
	return l, nil
}

// items are the list's entries.
func (l list) items() []*yaml.Node {
	if l.v == nil {
		return nil
	}
	return l.v.Content
}

// itemLimit is the line of the entry after the i-th, or the list's limit.
func itemLimit(l list, i int) int {
	if i+1 < len(l.v.Content) {
		return l.dashLine(l.v.Content[i+1])
	}
	return l.limit
}

// dashLine is the line with the dash of an entry; its content can start on a later one.
func (l list) dashLine(item *yaml.Node) int {
	for i := item.Line - 1; i > l.v.Line-1; i-- {
		if line := l.line(i); indentation(line) == l.v.Column-1 && strings.HasPrefix(line[l.v.Column-1:], "-") {
			return i
		}
	}
	return l.v.Line - 1
}

// pair is a key with its value; one without a value opens the mapping of the pairs behind it that are nested.
type pair struct {
	key, value string
	nested     bool
}

// appendItem adds an entry at the end of the list, in the list's own style.
func (l list) appendItem(pairs []pair) ([]edit, error) {
	switch {
	case l.v != nil && l.v.ShortTag() == "!!null":
		return l.fillKey(pairs)
	case l.v != nil && isFlow(l.v):
		return l.appendFlow(pairs)
	case l.v != nil && len(l.v.Content) > 0:
		dash, width := l.v.Column-1, 2
		if last := l.v.Content[len(l.v.Content)-1]; last.Kind == yaml.MappingNode && !isFlow(last) && last.Line == l.dashLine(last)+1 {
			width = last.Column - l.v.Column
		}
		return []edit{l.insertLines(l.contentEnd(l.v, l.limit), itemLines(pairs, dash, width))}, nil
	}
	lines := []string{strings.Repeat(" ", l.root.Column-1) + l.key + ":"}
	return []edit{l.insertLines(l.end(), append(lines, itemLines(pairs, usualIndent(l.root), 2)...))}, nil
}

// fillKey gives an entry to a key whose value is null, written or not.
func (l list) fillKey(pairs []pair) ([]edit, error) {
	edits := []edit{l.insertLines(l.k.Line, itemLines(pairs, usualIndent(l.root), 2))}
	if l.v.Value != "" {
		from, to, _, err := l.scalarSpan(l.v)
		if err != nil {
			return nil, err
		}
		for from > 0 && l.text[from-1] == ' ' {
			from--
		}
		edits = append(edits, edit{from, to, ""})
	}
	return edits, nil
}

// usualIndent is the indentation of the dashes in the kustomization's first list.
func usualIndent(root *yaml.Node) int {
	for _, v := range root.Content {
		if v.Kind == yaml.SequenceNode && !isFlow(v) && v.Column >= root.Column {
			return v.Column - 1
		}
	}
	return root.Column - 1
}

func itemLines(pairs []pair, dash, width int) []string {
	var lines []string
	lead := strings.Repeat(" ", dash) + "-" + strings.Repeat(" ", width-1)
	for _, p := range pairs {
		text := lead
		if p.nested {
			text += "  "
		}
		text += p.key + ":"
		if p.value != "" {
			text += " " + scalar(p.value, "")
		}
		lines = append(lines, text)
		lead = strings.Repeat(" ", dash+width)
	}
	return lines
}

func flowItem(pairs []pair) string {
	var b strings.Builder
	separator, closing := "{", "}"
	for _, p := range pairs {
		b.WriteString(separator + p.key + ": ")
		separator = ", "
		if p.value == "" {
			separator, closing = "{", "}}"
			continue
		}
		b.WriteString(scalar(p.value, ""))
	}
	return b.String() + closing
}

func (l list) appendFlow(pairs []pair) ([]edit, error) {
	at, text := l.offset(l.v)+1, flowItem(pairs)
	if n := len(l.v.Content); n > 0 {
		var err error
		if at, err = l.flowEnd(l.v.Content[n-1]); err != nil {
			return nil, err
		}
		text = ", " + text
	}
	return []edit{{at, at, text}}, nil
}

// flowEnd is the offset after a value in flow style: a scalar, or a collection that ends in one.
func (d *document) flowEnd(n *yaml.Node) (int, error) {
	if n.Kind == yaml.ScalarNode {
		_, to, _, err := d.scalarSpan(n)
		return to, err
	}
	at := d.offset(n)
	if at < len(d.text) && d.text[at] != '{' && d.text[at] != '[' {
		return d.flowEnd(n.Content[len(n.Content)-1]) // a single pair needs no braces in a flow list
	}
	at++
	if len(n.Content) > 0 {
		var err error
		if at, err = d.flowEnd(n.Content[len(n.Content)-1]); err != nil {
			return 0, err
		}
	}
	for at < len(d.text) {
		switch rest := d.text[at:]; rest[0] {
		case '}', ']':
			return at + 1, nil
		case ' ', '\t', '\r', '\n', ',':
			at++
		default:
			return 0, fmt.Errorf("line %d: cannot find the end of %s; write the list as a block, one entry a line", n.Line, kindName(n))
		}
	}
	return 0, fmt.Errorf("line %d: cannot find the end of %s; write the list as a block, one entry a line", n.Line, kindName(n))
}

// itemSpan is where the text of the i-th entry begins and ends, without the end of its last line.
func (l list) itemSpan(i int) (from, to int, err error) {
	item := l.v.Content[i]
	if isFlow(l.v) {
		to, err = l.flowEnd(item)
		return l.offset(item), to, err
	}
	from = l.lines[l.dashLine(item)]
	to = l.lines[l.contentEnd(item, itemLimit(l, i))]
	return from, from + len(strings.TrimRight(l.text[from:to], "\r\n")), nil
}

// removeItem takes out the i-th entry, and the key with it when a block list has no other.
func (l list) removeItem(i int) ([]edit, error) {
	item := l.v.Content[i]
	if isFlow(l.v) {
		return l.removeFlow(i)
	}
	from := l.dashLine(item)
	edits := []edit{l.deleteLines(from, l.contentEnd(item, itemLimit(l, i)))}
	if len(l.v.Content) > 1 {
		return edits, nil
	}
	if from == l.k.Line {
		return []edit{l.deleteLines(l.k.Line-1, l.contentEnd(item, l.limit))}, nil
	}
	return append(edits, l.deleteLines(l.k.Line-1, l.k.Line)), nil
}

func (l list) removeFlow(i int) ([]edit, error) {
	from := l.offset(l.v.Content[i])
	to, err := l.flowEnd(l.v.Content[i])
	switch {
	case err != nil:
		return nil, err
	case i > 0:
		from, err = l.flowEnd(l.v.Content[i-1])
	case len(l.v.Content) > 1:
		to = l.offset(l.v.Content[1])
	}
	return []edit{{from, to, ""}}, err
}
