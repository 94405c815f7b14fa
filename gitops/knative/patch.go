package knative

import (
	"bytes"
	"fmt"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// heading is the first line of the tool's patch. The record's lines follow.
const heading = "# Written by knative-promote: the revision's name and the traffic.\n"

// patchFile is the overlay's patch with the revision's name and the traffic,
// and a record of them in comment lines. Percent and latestRevision are always
// explicit: Argo CD does not see a manual change of a field that Git leaves
// out.
func patchFile(service, revision string, traffic []servingv1.TrafficTarget, record []byte) []byte {
	var b strings.Builder
	b.WriteString(heading)
	b.Write(commented(record))
	fmt.Fprintf(&b, "apiVersion: %s\nkind: Service\nmetadata:\n  name: %s\nspec:\n", servingAPI, service)
	fmt.Fprintf(&b, "  template:\n    metadata:\n      name: %s\n", revision)
	b.WriteString("  traffic:\n")
	for _, t := range traffic {
		if t.RevisionName != "" {
			fmt.Fprintf(&b, "    - revisionName: %s\n      percent: %d\n      latestRevision: false\n", t.RevisionName, Percent(t))
		} else {
			fmt.Fprintf(&b, "    - latestRevision: true\n      percent: %d\n", Percent(t))
		}
		if t.Tag != "" {
			fmt.Fprintf(&b, "      tag: %s\n", t.Tag)
		}
	}
	return []byte(b.String())
}

// commented is text in comment lines.
func commented(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(append(out, "# "...), line...)
	}
	return out
}

// splitRecord takes the tool's patch apart: the text in the comment lines below
// the first one, and what follows them.
func splitRecord(patch []byte) (record, rest []byte) {
	_, rest, _ = bytes.Cut(bytes.ReplaceAll(patch, []byte("\r\n"), []byte("\n")), []byte("\n"))
	for bytes.HasPrefix(rest, []byte("#")) {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		record = append(append(record, bytes.TrimPrefix(line, []byte("# "))...), '\n')
	}
	return record, rest
}

// withRecord is the tool's patch with another record in it.
func withRecord(patch, record []byte) []byte {
	_, rest := splitRecord(patch)
	return append(append([]byte(heading), commented(record)...), rest...)
}

// Percent is the target's share of the traffic; an absent one is 0, as Knative
// reads it.
func Percent(t servingv1.TrafficTarget) int {
	if t.Percent == nil {
		return 0
	}
	return int(*t.Percent)
}
