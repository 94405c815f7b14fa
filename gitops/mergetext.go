package gitops

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// mergeText is what Git merges two texts to that come from a third one, where that is sure: it looks for the lines that stay by another
// rule than is known here, so what each has changed has one place alone in the other.
func mergeText(base, tip, head string) (merged string, sure bool) {
	merged, sure = onto(head, base, tip)
	other, both := onto(tip, base, head)
	return merged, sure && both && merged == other
}

// onto is a text with what has changed of another one, from which it comes too, where that is sure: each place that has changed
// is in both once, with the line before it and the line behind it, and what comes in or goes there could not stand a line further
// up or down as well. Git merges the same or nothing: a change beside another one is a conflict.
func onto(text, from, to string) (merged string, sure bool) {
	edits := udiff.Lines(from, to)
	udiff.SortEdits(edits)
	last := 0
	for i, e := range edits {
		start, end := lineBefore(from, e.Start), lineBehind(from, e.End)
		at, once := placed(text, from, start, end)
		if !once || at < last || slides(e, from[start:e.Start], from[e.Start:e.End], from[e.End:end]) {
			return "", false
		}
		edits[i].Start, edits[i].End = at+e.Start-start, at+e.End-start
		last = edits[i].End
	}
	merged, err := udiff.Apply(text, edits)
	return merged, err == nil
}

// slides tells whether lines that come in, or go, make the same a line further up or down.
func slides(e udiff.Edit, before, gone, behind string) bool {
	if gone != "" && e.New != "" {
		return false
	}
	lines := gone + e.New
	return before != "" && strings.HasSuffix("\n"+lines, "\n"+before) || behind != "" && strings.HasPrefix(lines+"\n", behind)
}

// placed is where a text has the lines of another one that begin and end there, and whether both have these once. The first
// lines are the first ones there as well, and so are the last.
func placed(text, from string, start, end int) (at int, once bool) {
	lines := "\n" + from[start:end]
	text, from = "\n"+text, "\n"+from
	at = strings.Index(text, lines)
	switch {
	case at < 0 || strings.LastIndex(text, lines) != at || strings.LastIndex(from, lines) != strings.Index(from, lines):
		return 0, false
	case start == 0 && at != 0, end == len(from)-1 && at+len(lines) != len(text):
		return 0, false
	}
	return at, true
}

// lineBefore is where the line before an offset begins, which is where one begins.
func lineBefore(text string, at int) int {
	if at == 0 {
		return 0
	}
	return strings.LastIndex(text[:at-1], "\n") + 1
}

// lineBehind is where the line behind an offset ends, which is where one begins or the end.
func lineBehind(text string, at int) int {
	if end := strings.Index(text[at:], "\n"); end >= 0 {
		return at + end + 1
	}
	return len(text)
}
