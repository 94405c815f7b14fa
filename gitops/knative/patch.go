package knative

import (
	"fmt"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// patchFile is the overlay's patch with the revision's name and the traffic.
// Percent and latestRevision are always explicit: Argo CD does not see a
// manual change of a field that Git leaves out.
func patchFile(service, revision string, traffic []servingv1.TrafficTarget) []byte {
	var b strings.Builder
	b.WriteString("# Written by knative-promote: the revision's name and the traffic.\n")
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

// Percent is the target's share of the traffic; an absent one is 0, as Knative
// reads it.
func Percent(t servingv1.TrafficTarget) int {
	if t.Percent == nil {
		return 0
	}
	return int(*t.Percent)
}
