package report

import (
	"fmt"
	"strings"
)

// level says how much of a diff is shown. Each shows less than the one before.
type level int

const (
	full    level = iota
	narrow        // one unchanged line around each change
	bare          // changed lines only
	names         // names of the changed objects
	counts        // how much changed
	omitted       // nothing
)

// section is a diff that is shown as far as there is room for it.
type section struct {
	diff    string
	changes []change
	open    bool // shown unfolded
	level   level
}

func newSection(diff string, open bool) section {
	return section{diff: diff, changes: parse(diff), open: open}
}

// Markdown renders the section at its level.
func (s section) Markdown() string {
	changes := s.changes
	if len(changes) == 0 || s.level == omitted {
		return ""
	}
	summary := "Rendered manifest: " + size(changes)
	switch s.level {
	case counts:
		return summary + " (too long to show here; the run's `diff` output has it)\n\n"
	case names:
		return folded(summary+", too long to show line by line", nameList(changes), s.open)
	case bare:
		return folded(summary+", changed lines only", fenced("diff", text(changes, 0)), s.open)
	case narrow:
		return folded(summary+", less context", fenced("diff", text(changes, 1)), s.open)
	}
	return folded(summary, fenced("diff", s.diff), s.open)
}

func size(changes []change) string {
	added, removed := 0, 0
	for _, c := range changes {
		added += c.added
		removed += c.removed
	}
	return fmt.Sprintf("%s changed, +%d −%d lines", plural(len(changes), "object"), added, removed)
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func nameList(changes []change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "- %s %s (+%d −%d)\n", c.verb, code(c.name, maxName), c.added, c.removed)
	}
	return b.String()
}

func text(changes []change, around int) string {
	var b strings.Builder
	for _, c := range changes {
		b.WriteString(c.narrow(around).String())
	}
	return b.String()
}

// folded hides body behind a summary. The blank lines make GitHub render the
// body as Markdown.
func folded(summary, body string, open bool) string {
	tag := "<details>"
	if open {
		tag = "<details open>"
	}
	return tag + "<summary>" + summary + "</summary>\n\n" + strings.TrimSuffix(body, "\n") + "\n\n</details>\n\n"
}

// fit lowers the longest section, again and again, until all of them together
// are no longer than room bytes, and returns each as Markdown.
func fit(room int, sections []section) []string {
	rendered := make([]string, len(sections))
	total := 0
	for i, s := range sections {
		rendered[i] = s.Markdown()
		total += len(rendered[i])
	}
	for total > room {
		longest := 0
		for i := range rendered {
			if len(rendered[i]) > len(rendered[longest]) {
				longest = i
			}
		}
		if len(rendered) == 0 || rendered[longest] == "" {
			break
		}
		total -= len(rendered[longest])
		sections[longest].level++
		rendered[longest] = sections[longest].Markdown()
		total += len(rendered[longest])
	}
	return rendered
}
