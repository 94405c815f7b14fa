package event

import (
	"fmt"
	"strings"
)

// Text is the finding for people: what is wrong first, then its effect,
// what shows it, and what to do.
func (f Finding) Text() string {
	var b strings.Builder
	b.WriteString(wrapped(f.Severity.String()+"["+f.Rule+"]: "+f.Problem, "", "  "))
	if f.File != "" {
		b.WriteString("  at " + f.Place() + "\n")
	}
	evidence := strings.TrimSpace(f.Evidence)
	if strings.Contains(evidence, "\n") {
		evidence = "\n" + evidence
	}
	for _, part := range []struct{ title, text string }{
		{"Effect", strings.TrimSpace(f.Effect)}, {"Seen", evidence}, {"To fix it", strings.TrimSpace(f.Fix)},
	} {
		b.WriteString(paragraph(part.title, part.text))
	}
	if f.Link != "" {
		b.WriteString("  See " + f.Link + "\n")
	}
	return b.String()
}

// Place is the file and the line, as compilers write them.
func (f Finding) Place() string {
	if f.Line == 0 {
		return f.File
	}
	return fmt.Sprintf("%s:%d", f.File, f.Line)
}

// paragraph is a title and its text. Words are wrapped, but what has lines of
// its own, a patch or a command, is left as it is: it is there to be copied.
func paragraph(title, text string) string {
	first, rest, lines := strings.Cut(text, "\n")
	switch {
	case text == "":
		return ""
	case !lines:
		return wrapped(title+": "+text, "  ", "    ")
	}
	var b strings.Builder
	b.WriteString(wrapped(title+": "+first, "  ", "    "))
	for line := range strings.SplitSeq(rest, "\n") {
		b.WriteString(strings.TrimRight("    "+line, " ") + "\n")
	}
	return b.String()
}

// wrapped breaks text between words. A word that is too long stays whole.
func wrapped(text, indent, hanging string) string {
	const width = 100
	var b strings.Builder
	line, empty := indent, true
	for word := range strings.FieldsSeq(text) {
		if !empty && len(line)+1+len(word) > width {
			b.WriteString(line + "\n")
			line, empty = hanging, true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return b.String() + line + "\n"
}

// Tally counts the findings in words.
func Tally(findings []Finding) string {
	var parts []string
	for _, kind := range []struct {
		severity Severity
		one, all string
	}{{SeverityError, "error", "errors"}, {SeverityWarning, "warning", "warnings"}, {SeverityInfo, "note", "notes"}} {
		switch n := Count(findings, kind.severity); n {
		case 0:
		case 1:
			parts = append(parts, "1 "+kind.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n, kind.all))
		}
	}
	if len(parts) == 0 {
		return "nothing found that would break a promotion"
	}
	return strings.Join(parts, ", ") + " found"
}
