package report

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxName   = 240 // bytes of a name
	maxLabel  = 32  // bytes of a name that comes many times, such as a gate's
	maxReason = 800 // bytes of a reason in words
)

// code shows foreign text verbatim inside a code span. A span cannot hold a
// line break, so visible writes it as an escape.
func code(text string, limit int) string {
	text = brief(text, limit)
	if text == "" {
		return "–"
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || padded(text) {
		text = " " + text + " " // Markdown takes one such blank away again
	}
	return fence + text + fence
}

// padded reports whether Markdown would strip blanks of a code span with text.
func padded(text string) bool {
	return strings.HasPrefix(text, " ") && strings.HasSuffix(text, " ") && strings.Trim(text, " ") != ""
}

// cell is code for a table. A pipe would end the cell even inside code, and
// renderers disagree on how to escape one after a backslash.
func cell(text string, limit int) string {
	return code(strings.ReplaceAll(brief(text, limit), "|", `\u007c`), limit)
}

// brief is visible text of at most limit bytes.
func brief(text string, limit int) string {
	return shorten(visible(text[:min(len(text), 2*limit)]), limit) // visible never shortens
}

// fenced shows foreign text of several lines verbatim in a code block. The
// fence is longer than any run of backticks in the text.
func fenced(language, text string) string {
	text = visibleLines(strings.TrimSuffix(text, "\n"))
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + text + "\n" + fence + "\n"
}

// longestRun counts the longest run of c in text.
func longestRun(text string, c byte) int {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// visible writes every character that does not show, or that changes how its
// neighbours show, as an escape: controls, line breaks, bidirectional and
// zero-width characters, blanks other than the space, and bytes that are not UTF-8.
func visible(text string) string {
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

// visibleLines is visible for a text whose line breaks and tabs are kept.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for j, part := range parts {
			parts[j] = visible(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
}

// shorten cuts text to at most limit bytes, between characters, and says so.
func shorten(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// link makes a Markdown link with a label of ours. An address that is not a
// plain web address becomes the label alone.
func link(label, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && u.Scheme != "http") {
		return label
	}
	for _, r := range address {
		if r <= ' ' || r > '~' || strings.ContainsRune("<>()[]{}|\\^`\"'", r) {
			return label
		}
	}
	return "[" + label + "](" + address + ")"
}
