package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote"
)

// maxMissing is the most ConfigMaps and Secrets that are listed.
const maxMissing = 20

// missingList names the ConfigMaps and Secrets that the source of a promotion reads and
// that there are none of here.
func missingList(r promote.Result) string {
	if len(r.Drift.Missing) == 0 {
		return ""
	}
	var names []string
	for _, name := range r.Drift.Missing[:min(len(r.Drift.Missing), maxMissing)] {
		names = append(names, code(name, maxName))
	}
	more := ""
	if extra := len(r.Drift.Missing) - len(names); extra > 0 {
		more = fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Sprintf("⚠️ The template of %s names what this overlay neither renders nor names: %s%s.\n\n", code(r.Source.Overlay, maxName), strings.Join(names, ", "), more)
}
