package main

import (
	"fmt"
	"strings"
)

// usageText is what --help prints.
func usageText(groups []group) string {
	var b strings.Builder
	b.WriteString(`knative-promote promotes a Knative Service through the Git repository that Argo CD syncs.

Usage:
  knative-promote [COMMAND] [flags]

Commands:
  promote    set the image and shift the traffic in steps, one commit each (default)
  rollback   restore an earlier promotion in one commit
  check      look for what would break a promotion, and change nothing
  diff       show what would change, and change nothing
  history    list the promotions

Every flag --NAME is also read from the environment as INPUT_NAME, with _ for -.
Secrets are read from there alone.
`)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n%s:\n", g.Title)
		for _, in := range g.Inputs {
			b.WriteString(in.help())
		}
	}
	b.WriteString("\nOther flags:\n  --help\n  --version\n\nExit codes:\n")
	for _, e := range exits() {
		fmt.Fprintf(&b, "  %-3d%s: %s\n", e.Code, e.Name, e.Meaning)
	}
	return b.String()
}

func (in input) help() string {
	name, usage := "--"+in.Name, in.Usage
	if in.Secret {
		name = in.shellName()
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
