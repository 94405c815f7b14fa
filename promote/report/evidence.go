package report

import (
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// evidence shows what the pod of the new revision has written, and its events.
func evidence(r event.Result) string {
	e := r.Evidence
	var text []string
	for _, line := range e.Events {
		text = append(text, "event: "+line)
	}
	text = append(text, e.Log...)
	if len(text) == 0 {
		return ""
	}
	return folded("Events of the new revision's pod, and the last lines of its log", fenced("", strings.Join(text, "\n")), true)
}
