package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// printable makes everything in a text visible that a log would obey or hide:
// control characters, other line breaks and characters without a shape, which
// are also what could hide a command from disarm. Lines end with \n alone.
func printable(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\r' || r == '\u0085' || r == '\u2028' || r == '\u2029':
			b.WriteByte('\n')
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// OneLine is printable text without line breaks.
func OneLine(text string) string {
	return strings.Join(strings.FieldsFunc(printable(text), func(r rune) bool { return r == '\n' }), " ")
}

// disarm makes sure that the runner finds no command in a line. It looks for
// `::name::` behind leading blanks and for `##[name]` anywhere, and compares
// as the culture says, which skips characters that weigh nothing
// (https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs).
// So only ASCII counts here, and the backslash stays for the reader to see.
func disarm(line string) string {
	bare := strings.Map(func(r rune) rune {
		if r <= ' ' || r >= utf8.RuneSelf {
			return -1
		}
		return r
	}, line)
	if strings.Contains(bare, "##[") {
		line = strings.ReplaceAll(line, "[", `\[`)
	}
	if strings.HasPrefix(bare, "::") {
		line = `\` + line
	}
	return line
}
