package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// change is what a diff says about one object.
type change struct {
	name           string
	verb           string // added, changed or removed
	hunks          []hunk
	added, removed int // lines
}

// hunk is one run of lines of a unified diff.
type hunk struct {
	from, to int // line in each text where it starts
	lines    []string
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// parse reads what Diff wrote. A text in another form becomes one nameless change.
func parse(diff string) []change {
	var changes []change
	lines := strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
	for i := 0; i < len(lines); {
		if c, ok := heading(lines[i:]); ok {
			changes = append(changes, c)
			i += 2
			continue
		}
		if len(changes) == 0 {
			return unparsed(lines)
		}
		size := changes[len(changes)-1].take(lines[i:])
		if size == 0 {
			return unparsed(lines)
		}
		i += size
	}
	return changes
}

func unparsed(lines []string) []change {
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	return []change{{name: "the manifest", verb: "changed", hunks: []hunk{{lines: lines}}}}
}

func heading(lines []string) (change, bool) {
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return change{}, false
	}
	from, to := lines[0][4:], lines[1][4:]
	switch {
	case from == "/dev/null":
		return change{name: to, verb: "added"}, true
	case to == "/dev/null":
		return change{name: from, verb: "removed"}, true
	}
	return change{name: to, verb: "changed"}, true
}

// take adds the hunk that lines start with and returns its size, 0 for none.
func (c *change) take(lines []string) int {
	head := hunkHead.FindStringSubmatch(lines[0])
	if head == nil {
		return 0
	}
	h := hunk{from: number(head[1], 1), to: number(head[3], 1)}
	old, current := number(head[2], 1), number(head[4], 1)
	if old == 0 {
		h.from++ // a hunk of no lines is numbered by the line before it
	}
	if current == 0 {
		h.to++
	}
	size := 1
	for ; size < len(lines) && (old > 0 || current > 0); size++ {
		switch line := lines[size]; {
		case strings.HasPrefix(line, "-"):
			old--
			c.removed++
		case strings.HasPrefix(line, "+"):
			current--
			c.added++
		default:
			old--
			current--
		}
		h.lines = append(h.lines, lines[size])
	}
	c.hunks = append(c.hunks, h)
	return size
}

func number(digits string, fallback int) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return fallback
	}
	return n
}

// String writes the change as a unified diff again.
func (c change) String() string {
	var b strings.Builder
	from, to := c.name, c.name
	switch {
	case c.verb == "added":
		from = "/dev/null"
	case c.verb == "removed":
		to = "/dev/null"
	}
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", from, to)
	for _, h := range c.hunks {
		b.WriteString(h.String())
	}
	return b.String()
}

func (h hunk) String() string {
	old, current := h.size()
	if old == 0 {
		h.from--
	}
	if current == 0 {
		h.to--
	}
	return fmt.Sprintf("@@ -%d,%d +%d,%d @@\n%s\n", h.from, old, h.to, current, strings.Join(h.lines, "\n"))
}

// size counts the lines that the hunk covers in each text.
func (h hunk) size() (old, current int) {
	for _, line := range h.lines {
		if !strings.HasPrefix(line, "+") {
			old++
		}
		if !strings.HasPrefix(line, "-") {
			current++
		}
	}
	return old, current
}

// narrow keeps at most around unchanged lines on either side of a change.
func (c change) narrow(around int) change {
	narrowed := c
	narrowed.hunks = nil
	for _, h := range c.hunks {
		narrowed.hunks = append(narrowed.hunks, h.narrow(around)...)
	}
	return narrowed
}

func (h hunk) narrow(around int) []hunk {
	keep := make([]bool, len(h.lines))
	for i, line := range h.lines {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			for j := max(0, i-around); j < min(len(keep), i+around+1); j++ {
				keep[j] = true
			}
		}
	}
	var pieces []hunk
	from, to := h.from, h.to
	for i, line := range h.lines {
		if keep[i] {
			if i == 0 || !keep[i-1] {
				pieces = append(pieces, hunk{from: from, to: to})
			}
			last := &pieces[len(pieces)-1]
			last.lines = append(last.lines, line)
		}
		if !strings.HasPrefix(line, "+") {
			from++
		}
		if !strings.HasPrefix(line, "-") {
			to++
		}
	}
	return pieces
}
