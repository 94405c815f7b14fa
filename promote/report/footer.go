package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/acme/knative-promote/promote/event"
)

// footer says where the rest can be read.
func footer(r event.Result) string {
	var parts []string
	if r.RunURL != "" {
		parts = append(parts, link("Workflow run", r.RunURL))
	}
	for _, part := range []struct{ words, name string }{
		{"Overlay ", r.Overlay}, {"Argo CD application ", r.Application}, {"promotion ", r.Promotion}, {"started by ", r.Actor}, {"approved by ", r.Approved},
	} {
		if part.name != "" {
			parts = append(parts, part.words+code(part.name, maxName))
		}
	}
	if !r.Started.IsZero() {
		parts = append(parts, r.Started.UTC().Format("2006-01-02 15:04 UTC")+took(", took ", r.Started, r.Ended))
	}
	if len(parts) == 0 {
		return ""
	}
	return "<sub>" + strings.Join(parts, " · ") + "</sub>\n"
}

func took(words string, started, ended time.Time) string {
	if ended.IsZero() {
		return ""
	}
	return words + duration(ended.Sub(started))
}

// duration writes d as people say it: 42 s, 3 min 5 s, 1 h 20 min.
func duration(d time.Duration) string {
	seconds := int(max(0, d).Round(time.Second).Seconds())
	switch {
	case seconds < 60:
		return fmt.Sprintf("%d s", seconds)
	case seconds < 3600 && seconds%60 == 0:
		return fmt.Sprintf("%d min", seconds/60)
	case seconds < 3600:
		return fmt.Sprintf("%d min %d s", seconds/60, seconds%60)
	}
	return fmt.Sprintf("%d h %d min", seconds/3600, seconds%3600/60)
}
