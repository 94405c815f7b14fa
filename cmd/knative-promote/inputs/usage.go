package inputs

import (
	"fmt"
	"strings"
)

// Usage describes every input, for people at a terminal.
func Usage() string {
	var b strings.Builder
	for _, g := range Groups() {
		fmt.Fprintf(&b, "\n%s:\n", g.Title)
		for _, in := range g.Inputs {
			b.WriteString(in.help())
		}
	}
	return b.String()
}

func (in Input) help() string {
	name, usage := "--"+in.Name, in.Usage
	if in.Secret {
		name = in.ShellName()
	}
	if in.Env != "" {
		usage += "; also read from " + in.Env
	}
	if in.Default != "" {
		usage += " (default: " + in.Default + ")"
	}
	return fmt.Sprintf("  %s\n%s", name, wrapped(strings.ReplaceAll(usage, "`", ""), "      "))
}

// wrapped breaks the text into lines of 80 columns.
func wrapped(text, indent string) string {
	var b strings.Builder
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 80 && line != indent {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	return b.String() + strings.TrimRight(line, " ") + "\n"
}
