package report

import (
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote"
)

// chart draws the traffic of both revisions over the commits so far, once there
// is something to see. A rollback may start in the middle of a promotion, from a
// traffic that its one step does not tell.
//
// GitHub's Mermaid (11.3 and newer) knows the chart as xychart-beta only up
// to some version and as both names after it, so the older name is used. The
// chart has no legend; the line above it says what is what.
func chart(r promote.Result) string {
	labels, current := []string{`"before"`}, []string{"0"}
	old := []string{"100"}
	taken := map[string]int{"before": 1}
	moved := false
	for _, step := range r.Steps[max(0, len(r.Steps)-maxSteps):] {
		if !step.Committed() {
			continue
		}
		share := percent(step)
		moved = moved || share > 0
		labels = append(labels, `"`+label(step.Name, taken)+`"`)
		current = append(current, fmt.Sprint(share))
		old = append(old, fmt.Sprint(100-share))
	}
	if !moved || len(labels) < 3 || r.Command == "rollback" {
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

// label keeps what cannot end a Mermaid string, start a comment or be HTML,
// and makes a name that comes twice different: equal ones share one place.
func label(name string, taken map[string]int) string {
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
		return label(fmt.Sprintf("%s %d", name[:min(len(name), 16)], n), taken)
	}
	return name
}
