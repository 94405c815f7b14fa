package manifest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Brief is visible text of at most limit bytes.
func Brief(text string, limit int) string {
	return Shorten(Visible(text[:min(len(text), 2*limit)]), limit) // Visible never shortens
}

// Visible writes every character that does not show, or that changes how its
// neighbours show, as an escape: controls, line breaks, bidirectional and
// zero-width characters, blanks other than the space, and bytes that are not UTF-8.
func Visible(text string) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[0])
		} else {
			b.WriteString(visibleRune(r))
		}
		text = text[size:]
	}
	return b.String()
}

func visibleRune(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r > 0xffff && hidden(r):
		return fmt.Sprintf(`\U%08x`, r)
	case hidden(r):
		return fmt.Sprintf(`\u%04x`, r)
	}
	return string(r)
}

// hidden reports whether r leaves no mark of its own. The ignorable letters
// and variation selectors count as printable in Go but show as nothing.
func hidden(r rune) bool {
	return !unicode.IsPrint(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func plain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// Shorten cuts text to at most limit bytes, between characters, and says so.
func Shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
