package main

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
)

// usageText is what --help prints.
func usageText() string {
	var b strings.Builder
	b.WriteString(`knative-promote promotes a Knative Service through the Git repository that Argo CD syncs.

Usage:
  knative-promote [COMMAND] [flags]

Commands:
`)
	for _, c := range commandTable() {
		fmt.Fprintf(&b, "  %-11s%s\n", c.Name, c.Usage)
	}
	b.WriteString(`
Every flag --NAME is also read from the environment as INPUT_NAME, with _ for -.
Secrets are read from there alone.
`)
	b.WriteString(inputs.Usage())
	b.WriteString("\nOther flags:\n  --help\n  --version\n\nExit codes:\n")
	for _, e := range exit.Table() {
		fmt.Fprintf(&b, "  %-3d%s: %s\n", e.Code, e.Name, e.Meaning)
	}
	return b.String()
}
