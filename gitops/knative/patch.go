package knative

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	"sigs.k8s.io/yaml"

	"github.com/acme/knative-promote/gitops/kustomize"
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
		lead := "# "
		if len(line) == 1 {
			lead = "#" // editors take blanks off the ends of lines
		}
		out = append(append(out, lead...), line...)
	}
	return out
}

// A routeFile is the tool's patch with the revision's name and the traffic, taken
// apart.
type routeFile struct {
	above  []byte // what others have put above the first line of ours: a licence, a ---
	record []byte // the text in the comment lines below that
	rest   []byte // the patch itself
}

// takeApart takes the tool's patch apart. Without the first line of ours all comment
// lines at its top are the record, which is none that can be read.
func takeApart(patch []byte) (f routeFile) {
	above, below := splitAbove(bytes.ReplaceAll(patch, []byte("\r\n"), []byte("\n")))
	f.above, f.rest = above, below
	if bytes.HasPrefix(below, []byte(written)) {
		_, f.rest, _ = bytes.Cut(below, []byte("\n"))
	}
	for bytes.HasPrefix(f.rest, []byte("#")) {
		var line []byte
		line, f.rest, _ = bytes.Cut(f.rest, []byte("\n"))
		f.record = append(append(f.record, bytes.TrimPrefix(line[1:], []byte(" "))...), '\n')
	}
	return f
}

// splitAbove is a file of the tool's in two: what stands above its first line, and
// that with all below. One without such a line has nothing above it. A byte order mark, which nobody sees, is above it.
func splitAbove(content []byte) (above, below []byte) {
	at := 0
	if bytes.HasPrefix(content, []byte(kustomize.ByteOrderMark)) {
		at = len(kustomize.ByteOrderMark)
	}
	for line := range bytes.Lines(content[at:]) {
		switch text := bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte(written)):
			return content[:at], content[at:]
		case len(text) > 0 && text[0] != '#' && text[0] != '%' && !bytes.Equal(text, []byte("---")):
			return nil, content
		}
		at += len(line)
	}
	return nil, content
}

// withRecord is the tool's patch with another record in it.
func withRecord(patch, record []byte) []byte {
	f := takeApart(patch)
	return slices.Concat(f.above, []byte(heading), commented(record), f.rest)
}

// foreignIn are the fields that the tool's patch sets beside the tool's own. One that cannot be read is not rendered either.
func foreignIn(patch []byte) []string {
	if bytes.Contains(takeApart(patch).rest, []byte("\n---")) {
		return []string{"a second object"}
	}
	var has map[string]any
	if err := yaml.Unmarshal(patch, &has); err != nil {
		return []string{"what is no patch"}
	}
	own := []string{"/apiVersion", "/kind", "/metadata/name", "/spec/template/metadata/name", "/spec/traffic"}
	return slices.DeleteFunc(leaves("", has), func(field string) bool { return below(field, own) })
}

// SameRoute tells whether two contents of a file are the same, but for the record where it is
// the tool's patch.
func SameRoute(a, b []byte) bool {
	ours := bytes.Contains(a, []byte(heading)) && bytes.Contains(b, []byte(heading))
	return bytes.Equal(a, b) || ours && bytes.Equal(withRecord(a, nil), withRecord(b, nil))
}

// Percent is the target's share of the traffic; an absent one is 0, as Knative
// reads it.
func Percent(t servingv1.TrafficTarget) int {
	if t.Percent == nil {
		return 0
	}
	return int(*t.Percent)
}
