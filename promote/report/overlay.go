package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// Overlay is what a change of the infra repository does to one rendered overlay.
type Overlay struct {
	Path       string              // folder of the overlay
	File       string              // its kustomization, where annotations go
	From       []string            // changed files that it is rendered from
	Service    string              // name of the Knative Service, empty where there is none
	Difference manifest.Difference // empty: it renders as before
	Later      manifest.Difference // what the next promotion brings, as the files that promotions write hide it until then
	Before     []byte              // what it rendered; nil: nothing, or it did not render
	After      []byte              // what it renders
	Warnings   []string            // what would go wrong, in words
	Findings   []event.Finding     // what the check finds in its manifests then
	Err        string              // why it does not render, in words; empty: it does
	Large      string              // what it takes too much of, in words, though it renders; empty: nothing
}

// LaterText says of what it comes by.
const LaterText = "The next promotion changes more than what is rendered now: the files that promotions write hide it until then."

// Changes tells whether the overlay renders to something else, not at all, or is too large.
func (o Overlay) Changes() bool { return len(o.Difference) > 0 || o.Err != "" || o.Large != "" }

// head is everything about the overlay but its diff.
func (o Overlay) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s", code(o.Path, maxName))
	if o.Service != "" {
		fmt.Fprintf(&b, ", service %s", code(o.Service, maxName))
	}
	b.WriteString("\n\n")
	if len(o.From) > 0 {
		b.WriteString("Changed by " + list(o.From, "more file") + ".\n\n")
	}
	if o.Err != "" {
		fmt.Fprintf(&b, "❌ Does not render: %s\n\n", reason(o.Err, maxReason))
	} else if len(o.Difference) == 0 {
		b.WriteString("Renders as before.\n\n")
	}
	if len(o.Later) > 0 {
		b.WriteString("⚠️ " + LaterText + "\n\n")
	}
	if o.Large != "" {
		fmt.Fprintf(&b, "❌ Too large: %s\n\n", reason(o.Large, maxReason))
	}
	for _, warning := range o.Warnings[:min(len(o.Warnings), maxWarnings)] {
		fmt.Fprintf(&b, "⚠️ %s\n\n", reason(warning, maxWarning))
	}
	if left := len(o.Warnings) - maxWarnings; left > 0 {
		b.WriteString(plural(left, "more warning") + ".\n\n")
	}
	if list := findingList(o.Findings); list != "" {
		b.WriteString(list + "\n")
	}
	return b.String()
}
