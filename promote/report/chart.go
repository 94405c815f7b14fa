package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// trafficChart draws the traffic of both revisions after each commit so far,
// once it has moved. A rollback gets none: its one step does not say which
// traffic it started from.
//
// The chart's name xychart-beta works with every version of Mermaid that GitHub
// may run, 11.3 and newer; xychart with the newest alone. The chart has no
// legend; the line above it says what it shows.
func trafficChart(r event.Result) string {
	labels, current := []string{`"before"`}, []string{"0"}
	old := []string{"100"}
	taken := map[string]int{"before": 1}
	moved := false
	for _, step := range r.Steps[max(0, len(r.Steps)-maxSteps):] {
		if !step.Committed() {
			continue
		}
		share := shareAfter(step)
		moved = moved || share > 0
		labels = append(labels, `"`+axisLabel(step.Name, taken)+`"`)
		current = append(current, fmt.Sprint(share))
		old = append(old, fmt.Sprint(100-share))
	}
	if !moved || len(labels) < 3 || r.Command == event.CommandRollback {
		return ""
	}
	return "Traffic after each commit: bars for the new revision, the line for the old one.\n\n" +
		"```mermaid\n" +
		`%%{init: {"xyChart": {"width": 720, "height": 260}, "themeVariables": {"xyChart": {"plotColorPalette": "#2da44e, #8c959f"}}}}%%` + "\n" +
		"xychart-beta\n" +
		"    x-axis [" + strings.Join(labels, ", ") + "]\n" +
		"    y-axis \"% of the traffic\" 0 --> 100\n" +
		"    bar [" + strings.Join(current, ", ") + "]\n" +
		"    line [" + strings.Join(old, ", ") + "]\n" +
		"```\n\n"
}

// axisLabel keeps what cannot end a Mermaid string, start a comment or be HTML,
// and makes a name that comes twice different: equal ones share one place.
func axisLabel(name string, taken map[string]int) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune(" .-%", r):
			return r
		}
		return -1
	}, name)
	for strings.Contains(name, "%%") {
		name = strings.ReplaceAll(name, "%%", "%")
	}
	name = strings.TrimSpace(name[:min(len(name), 20)])
	if name == "" {
		name = "step"
	}
	taken[name]++
	if n := taken[name]; n > 1 {
		return axisLabel(fmt.Sprintf("%s %d", name[:min(len(name), 16)], n), taken)
	}
	return name
}
