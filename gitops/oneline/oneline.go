// Package oneline makes texts that others wrote, such as a server's answer or
// a file's content, fit to be quoted in a sentence.
package oneline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of is the text on one line, printable and in valid UTF-8, with single blanks
// for all others and for control characters. A text of more than limit bytes is
// cut there and ends with an ellipsis.
func Of(text string, limit int) string {
	text = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return strings.TrimRight(text[:limit], " ") + "…"
}
