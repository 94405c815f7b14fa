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
// cut as Cut does.
func Of(text string, limit int) string {
	return Cut(strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " "), limit)
}

// Brief is the text as an error quotes it: at most 400 bytes, which is enough for
// an admission webhook's first sentences.
func Brief(text string) string { return Of(text, 400) }

// Cut is a text of at most limit bytes, with an ellipsis behind it where it was
// longer. No word of ASCII is cut in two: it may be a secret, or one in base64,
// and who hides secrets later would not find the half that is left.
func Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !divides(text, limit) {
		limit--
	}
	return strings.TrimRight(text[:limit], " ") + "…"
}

// divides tells whether a text can be cut before the byte at i: at a blank, or
// beside a character that is not ASCII, as in languages that write no blanks.
func divides(text string, i int) bool {
	return text[i] <= ' ' || text[i-1] <= ' ' ||
		utf8.RuneStart(text[i]) && (text[i] >= utf8.RuneSelf || text[i-1] >= utf8.RuneSelf)
}
