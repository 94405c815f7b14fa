package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/manifest"
)

// detail says how much of a difference is shown. Each level shows less than the
// one before. Fields come after lines, which are what a reviewer knows from the
// files, and before names: their values are cut, so that a long text among them
// does not hide the others.
type detail int

const (
	allLines      detail = iota
	lessContext          // one unchanged line around each change
	changedLines         // changed lines only
	changedFields        // each object with its fields that change
	namesOnly            // which objects change
	countsOnly           // how many lines of how many objects
	nothing
)

// section is a difference that is shown as far as there is room for it.
type section struct {
	difference manifest.Difference
	verb       string // changed, or would have
	open       bool   // shown unfolded
	log        bool   // the whole is in the run's log, else in its output
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
		where := "the run's `diff` output"
		if s.log {
			where = "the run's log"
		}
		return summary + " (too long to show here; " + where + " has it)\n\n"
	case namesOnly:
		return folded(summary+", too long to show line by line", objectList(s.difference, false), s.open)
	case changedFields:
		return folded(summary+", changed fields only", objectList(s.difference, true), s.open)
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

func objectList(d manifest.Difference, fields bool) string {
	var b strings.Builder
	for _, o := range d {
		added, removed := o.Size()
		fmt.Fprintf(&b, "- %s %s (+%d −%d)\n", o.Change, code(o.Name, maxName), added, removed)
		if fields {
			b.WriteString(fieldList(o))
		}
	}
	return b.String()
}

func fieldList(o manifest.Object) string {
	var b strings.Builder
	for _, f := range o.Fields {
		fmt.Fprintf(&b, "  - %s: %s → %s\n", code(f.Path, maxName), code(f.Before, maxName), code(f.After, maxName))
	}
	if o.MoreFields > 0 {
		fmt.Fprintf(&b, "  - %s\n", plural(o.MoreFields, "more field"))
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
