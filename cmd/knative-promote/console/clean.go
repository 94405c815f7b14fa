package console

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
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

// secretForms are the texts that give a secret away: itself, each line of
// it, its escaped forms, and what every base64 text that holds it contains.
// Texts of less than four bytes are left out: hiding them would ruin the log.
func secretForms(secrets []string) []string {
	var forms []string
	for _, secret := range secrets {
		forms = append(forms, secret, strings.TrimSpace(secret))
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "-----") {
				continue
			}
			forms = append(forms, line, url.QueryEscape(line), url.PathEscape(line), url.UserPassword("", line).String()[1:])
			forms = append(forms, jsonForm(line))
			forms = append(forms, base64Forms(line)...)
		}
	}
	slices.Sort(forms)
	return slices.DeleteFunc(slices.Compact(forms), func(form string) bool { return len(form) < 4 })
}

func jsonForm(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return strings.Trim(string(quoted), `"`)
}

// base64Forms are the parts that depend on the secret alone of the base64
// text of anything that holds it, such as user:secret: one for each of the
// three places where it can start within four digits.
func base64Forms(secret string) []string {
	var forms []string
	for shift := range 3 {
		bytes := append(make([]byte, shift), secret...)
		whole := len(bytes) / 3 * 3
		for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			text := encoding.EncodeToString(bytes[:whole])
			if shift > 0 && text != "" {
				text = text[4:]
			}
			if len(text) >= 8 {
				forms = append(forms, text)
			}
		}
	}
	return forms
}

func longestFirst(texts []string) {
	slices.SortFunc(texts, func(a, b string) int { return len(b) - len(a) })
}
