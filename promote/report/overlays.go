package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/manifest"
)

// DiffMarker is the hidden first line of DiffComment.
const DiffMarker = "<!-- knative-promote:diff -->"

// Overlay is what a change of the infra repository does to one rendered overlay.
type Overlay struct {
	Path       string              // folder of the overlay
	File       string              // its kustomization, where annotations go
	Service    string              // name of the Knative Service, empty where there is none
	Difference manifest.Difference // empty: it renders as before
	Before     []byte              // what it rendered; nil: nothing, or it did not render
	After      []byte              // what it renders
	Warnings   []string            // what would go wrong, in words
	Err        string              // why it does not render, in words; empty: it does
}

// DiffComment is the body of the comment on a pull request of the infra
// repository: what it changes in every overlay, and which of the files that
// are the tool's own. It is at most CommentLimit bytes long; the longest diffs
// are shortened first.
func DiffComment(overlays []Overlay, own []string) string {
	return DiffMarker + "\n\n" + overlayPage(overlays, own, CommentLimit-len(DiffMarker)-2)
}

// DiffSummary is the same for the summary of the job, of at most room bytes.
func DiffSummary(overlays []Overlay, own []string, room int) string {
	return overlayPage(overlays, own, room)
}

// OwnChanged is what a person must know who merges a change of the tool's own
// files.
const OwnChanged = "This pull request changes what knative-promote has written: the record of the promotions, the revision and its traffic. " +
	"That record decides what a promotion continues and where a rollback goes: merge it only where you mean that."

const (
	maxWarnings = 5
	maxWarning  = 600 // bytes
	maxOwn      = 10
)

func overlayPage(overlays []Overlay, own []string, room int) string {
	var heads []string
	var sections []section
	title := overlayHeading(overlays, len(own) > 0) + ownWarning(own)
	left := room - len(title)
	for _, overlay := range overlays {
		head := overlay.head()
		if len(head) > left-room/4 { // the last quarter is for the diffs
			break
		}
		left -= len(head)
		heads = append(heads, head)
		sections = append(sections, section{difference: overlay.Difference, verb: "changed", open: len(overlays) == 1})
	}
	tail := ""
	if n := len(overlays) - len(heads); n > 0 {
		tail = plural(n, "more overlay") + " not shown.\n"
	}
	var b strings.Builder
	b.WriteString(title)
	for i, diff := range shrink(left-len(tail), sections) {
		b.WriteString(heads[i] + diff)
	}
	return b.String() + tail
}

// ownWarning comes before everything else: a record renders to nothing, so no
// diff shows it.
func ownWarning(own []string) string {
	if len(own) == 0 {
		return ""
	}
	text := "⚠️ " + OwnChanged + "\n\n"
	for _, file := range own[:min(len(own), maxOwn)] {
		text += "- " + code(file, maxName) + "\n"
	}
	if left := len(own) - maxOwn; left > 0 {
		text += "- " + plural(left, "more file") + "\n"
	}
	return text + "\n"
}

func overlayHeading(overlays []Overlay, own bool) string {
	changed, broken, warned := 0, 0, 0
	for _, o := range overlays {
		switch {
		case o.Err != "":
			broken++
		case len(o.Difference) > 0:
			changed++
		}
		if len(o.Warnings) > 0 {
			warned++
		}
	}
	icon := "🔍"
	if broken > 0 {
		icon = "❌"
	} else if warned > 0 || own {
		icon = "⚠️"
	}
	words := "## " + icon + " No overlay would change"
	if changed > 0 {
		words = "## " + icon + " " + plural(changed, "overlay") + " would change"
	}
	if broken > 0 {
		words += fmt.Sprintf(", %d would not render", broken)
	}
	if warned > 0 {
		words += fmt.Sprintf(", %d with warnings", warned)
	}
	return words + "\n\n"
}

// head is everything about the overlay but its diff.
func (o Overlay) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s", code(o.Path, maxName))
	if o.Service != "" {
		fmt.Fprintf(&b, ", service %s", code(o.Service, maxName))
	}
	b.WriteString("\n\n")
	if o.Err != "" {
		fmt.Fprintf(&b, "❌ Does not render: %s\n\n", reason(o.Err, maxReason))
	} else if len(o.Difference) == 0 {
		b.WriteString("Renders as before.\n\n")
	}
	for _, warning := range o.Warnings[:min(len(o.Warnings), maxWarnings)] {
		fmt.Fprintf(&b, "⚠️ %s\n\n", reason(warning, maxWarning))
	}
	if left := len(o.Warnings) - maxWarnings; left > 0 {
		b.WriteString(plural(left, "more warning") + ".\n\n")
	}
	return b.String()
}
