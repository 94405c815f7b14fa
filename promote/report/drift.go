package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// maxMissing is the most ConfigMaps and Secrets that are listed.
const maxMissing = 20

// missingList names the ConfigMaps and Secrets that the sources of a promotion read and
// that there are none of here.
func missingList(r event.Result) string {
	var text strings.Builder
	for _, d := range r.Drift {
		text.WriteString(missingIn(d))
	}
	return text.String()
}

func missingIn(d event.Drift) string {
	if len(d.Missing) == 0 {
		return ""
	}
	var names []string
	for _, name := range d.Missing[:min(len(d.Missing), maxMissing)] {
		names = append(names, code(name, maxName))
	}
	more := ""
	if extra := len(d.Missing) - len(names); extra > 0 {
		more = fmt.Sprintf(" and %d more", extra)
	}
	return fmt.Sprintf("⚠️ The template of %s names what this overlay neither renders nor names: %s%s.\n\n", code(d.From, maxName), strings.Join(names, ", "), more)
}
