package report

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/manifest"
)

const (
	maxName   = 240 // bytes of a name
	maxLabel  = 32  // bytes of a name that comes many times, such as a gate's
	maxReason = 800 // bytes of a reason in words
)

// code shows foreign text verbatim inside a code span. A span cannot hold a
// line break, so it is written as an escape.
func code(text string, limit int) string {
	text = manifest.Brief(text, limit)
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

// reason shows why something failed, in words that may come from elsewhere and
// quote more than they should. Secrets of the run that stand in it are hidden
// later, and in whole words only.
func reason(text string, limit int) string {
	text = oneline.Cut(manifest.Visible(manifest.HideSecrets(oneline.Cut(text, 4*limit))), limit)
	return code(text, limit+len("…"))
}

// decisive is the same of what a reviewer decides by, and whether it is all of that.
func decisive(text string, limit int) (shown string, whole bool) {
	all := manifest.Visible(manifest.HideForms(text))
	return code(oneline.Cut(all, limit), limit+len("…")), len(all) <= limit
}

// cell is code for a table. A pipe would end the cell even inside code, and
// renderers disagree on how to escape one after a backslash.
func cell(text string, limit int) string {
	return code(strings.ReplaceAll(manifest.Brief(text, limit), "|", `\u007c`), limit)
}

// fenced shows foreign text of several lines verbatim in a code block. The
// fence is longer than any run of backticks in the text.
func fenced(language, text string) string {
	text = visibleLines(strings.TrimSuffix(text, "\n"))
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return fence + language + "\n" + text + "\n" + fence + "\n"
}

// Inline shows foreign text as it stands, in a line of Markdown. A long one is shortened.
func Inline(text string) string { return code(text, 1000) }

// Verbatim shows foreign text of several lines as it stands, in a code block of Markdown.
func Verbatim(text string) string { return fenced("", text) }

// tableRow is one row of a table, whose cells are Markdown.
func tableRow(cells ...string) string {
	return "| " + strings.Join(cells, " | ") + " |\n"
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

// plural counts a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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

// visibleLines is manifest.Visible for a text whose line breaks and tabs are kept.
func visibleLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		parts := strings.Split(line, "\t")
		for j, part := range parts {
			parts[j] = manifest.Visible(part)
		}
		lines[i] = strings.Join(parts, "\t")
	}
	return strings.Join(lines, "\n")
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
