package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/manifest"
)

// detail says how much of a difference is shown. Each level shows less than the
// one before.
type detail int

const (
	allLines     detail = iota
	lessContext         // one unchanged line around each change
	changedLines        // changed lines only
	namesOnly           // which objects change
	countsOnly          // how many lines of how many objects
	nothing
)

// section is a difference that is shown as far as there is room for it.
type section struct {
	difference manifest.Difference
	verb       string // changed, or would have
	open       bool   // shown unfolded
	level      detail
}

// Markdown renders the section at its level.
func (s section) Markdown() string {
	if len(s.difference) == 0 || s.level == nothing {
		return ""
	}
	summary := "Rendered manifest: " + sizeInWords(s.difference, s.verb)
	switch s.level {
	case countsOnly:
		return summary + " (too long to show here; the run's `diff` output has it)\n\n"
	case namesOnly:
		return folded(summary+", too long to show line by line", nameList(s.difference), s.open)
	case changedLines:
		return folded(summary+", changed lines only", fenced("diff", s.difference.Narrow(0).String()), s.open)
	case lessContext:
		return folded(summary+", less context", fenced("diff", s.difference.Narrow(1).String()), s.open)
	}
	return folded(summary, fenced("diff", s.difference.String()), s.open)
}

func sizeInWords(d manifest.Difference, verb string) string {
	added, removed := d.Size()
	return fmt.Sprintf("%s %s, +%d −%d lines", plural(len(d), "object"), verb, added, removed)
}

func nameList(d manifest.Difference) string {
	var b strings.Builder
	for _, o := range d {
		added, removed := o.Size()
		fmt.Fprintf(&b, "- %s %s (+%d −%d)\n", o.Change, code(o.Name, maxName), added, removed)
	}
	return b.String()
}

// shrink lowers the level of the longest section, again and again, until all of
// them together are no longer than room bytes, and returns each as Markdown.
func shrink(room int, sections []section) []string {
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
