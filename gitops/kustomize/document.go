package kustomize

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ByteOrderMark may stand before a YAML text (https://yaml.org/spec/1.2.2/#52-character-encodings).
const ByteOrderMark = "\uFEFF"

// document is a kustomization as text, with the positions of its values. Every edit works on the text, so that what
// is not edited stays as it is.
type document struct {
	mark  string     // the byte order mark, if the text had one
	text  string     // the text without it
	lines []int      // where each line starts in text, and len(text) after the last
	eol   string     // how lines end: "\n" or "\r\n"
	root  *yaml.Node // the top-level mapping
}

// edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

func parse(src []byte) (*document, error) {
	text, marked := strings.CutPrefix(string(src), ByteOrderMark)
	d := &document{text: text, lines: lineStarts(text), eol: "\n"}
	if marked {
		d.mark = ByteOrderMark
	}
	if first, _, _ := strings.Cut(text, "\n"); strings.HasSuffix(first, "\r") {
		d.eol = "\r\n"
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the kustomization is not UTF-8 text; save it as UTF-8")
	}
	root, err := onlyMapping(text)
	d.root = root
	return d, err
}

// onlyMapping returns the mapping that text holds as its only document.
func onlyMapping(text string) (*yaml.Node, error) {
	var documents []*yaml.Node
	err := new(budget).spend([]byte(text), 1, func(n *yaml.Node) error {
		documents = append(documents, n.Content[0])
		return nil
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("the kustomization cannot be read: %w", err)
	case len(documents) == 0:
		return nil, errors.New("the kustomization is empty; expected a mapping with the key resources")
	case len(documents) > 1:
		return nil, errors.New("the kustomization holds more than one YAML document; kustomize reads only the first, remove the others")
	case documents[0].Kind != yaml.MappingNode:
		return nil, fmt.Errorf("the kustomization is %s; expected a mapping with the key resources", kindName(documents[0]))
	}
	return documents[0], nil
}

func kindName(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.ShortTag() == "!!null":
		return "empty"
	default:
		return "a single value"
	}
}

// lineStarts splits text as yaml.v3 counts lines: besides LF and CRLF it takes a lone CR, NEL, LS and PS for a break.
func lineStarts(text string) []int {
	starts := []int{0}
	for i, r := range text {
		switch r {
		case '\n', '\u0085', '\u2028', '\u2029':
			starts = append(starts, i+utf8.RuneLen(r))
		case '\r':
			if !strings.HasPrefix(text[i+1:], "\n") {
				starts = append(starts, i+1)
			}
		}
	}
	if starts[len(starts)-1] != len(text) {
		starts = append(starts, len(text))
	}
	return starts
}

// count is the number of lines.
func (d *document) count() int { return len(d.lines) - 1 }

// line returns the text of line i, counted from 0, with its end.
func (d *document) line(i int) string { return d.text[d.lines[i]:d.lines[i+1]] }

// offset is where n begins in the text; yaml.v3 counts columns in runes.
func (d *document) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > d.count() {
		return len(d.text)
	}
	at := d.lines[n.Line-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRuneInString(d.text[at:])
		at += size
	}
	return at
}

// end is the line after the last one of the document's content: a line with `...` or `---` closes it.
func (d *document) end() int {
	last := d.root.Content[len(d.root.Content)-1]
	for i := last.Line; i < d.count(); i++ {
		if strings.HasPrefix(d.line(i), "...") || strings.HasPrefix(d.line(i), "---") {
			return i
		}
	}
	return d.count()
}

// contentEnd returns the line after the last one, before line limit, that belongs to n. Blank lines and comments that
// follow belong to what comes next, unless they stand in a block scalar, where they are text.
func (d *document) contentEnd(n *yaml.Node, limit int) int {
	last, parent := lastScalar(n, n)
	if last.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		return d.blockScalarEnd(last, parent.Column, limit)
	}
	end := limit
	for end > last.Line && isFiller(d.line(end-1)) {
		end--
	}
	return end
}

// blockScalarEnd returns the line after a literal or folded scalar in a parent at that column.
func (d *document) blockScalarEnd(n *yaml.Node, parentColumn, limit int) int {
	header, _, _ := strings.Cut(d.line(n.Line - 1)[d.offset(n)-d.lines[n.Line-1]:], "#")
	keepsBlanks := strings.Contains(header, "+")
	end := n.Line
	for i := n.Line; i < limit; i++ {
		line := d.line(i)
		switch blank := strings.TrimSpace(line) == ""; {
		case blank && keepsBlanks:
			end = i + 1
		case !blank && indentation(line) < parentColumn:
			return end
		case !blank:
			end = i + 1
		}
	}
	return end
}

func lastScalar(n, parent *yaml.Node) (last, itsParent *yaml.Node) {
	if len(n.Content) == 0 {
		return n, parent
	}
	return lastScalar(n.Content[len(n.Content)-1], n)
}

func isFiller(line string) bool {
	line = strings.TrimLeft(line, " \t")
	return strings.TrimSpace(line) == "" || line[0] == '#'
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// apply makes the edits, which must not overlap.
func (d *document) apply(edits ...edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out bytes.Buffer
	out.WriteString(d.mark)
	at := 0
	for _, e := range edits {
		out.WriteString(d.text[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.WriteString(d.text[at:])
	return out.Bytes()
}

// insertLines is the edit that adds lines before line at. A text without a final newline stays without one.
func (d *document) insertLines(at int, lines []string) edit {
	text := strings.Join(lines, d.eol) + d.eol
	from := d.lines[at]
	if from == len(d.text) && d.text != "" && !strings.HasSuffix(d.text, "\n") {
		text = d.eol + strings.TrimSuffix(text, d.eol)
	}
	return edit{from: from, to: from, text: text}
}

// deleteLines is the edit that takes out the lines from up to to. A text without a final newline stays without one.
func (d *document) deleteLines(from, to int) edit {
	e := edit{from: d.lines[from], to: d.lines[to]}
	if e.to == len(d.text) && !strings.HasSuffix(d.text, "\n") {
		before := strings.TrimSuffix(d.text[:e.from], "\n")
		e.from = len(strings.TrimSuffix(before, "\r"))
	}
	return e
}
