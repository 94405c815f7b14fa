package report

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// stepTable is the table of the steps, one row each.
func stepTable(r event.Result, commitURL string) string {
	if len(r.Steps) == 0 {
		return ""
	}
	var b strings.Builder
	share := "New revision"
	if r.Command == event.CommandRollback {
		share = "Target"
	}
	b.WriteString(tableRow("Step", share, "Gates", "Took", "Commit"))
	b.WriteString("|---|--:|---|---|---|\n")
	shown := r.Steps[max(0, len(r.Steps)-maxSteps):]
	for _, step := range shown {
		b.WriteString(tableRow(
			progressIcon(step.Progress)+" "+cell(step.Name, maxLabel),
			fmt.Sprintf("%d %%", shareAfter(step)),
			gateCells(step.Gates),
			stepTime(step),
			commitLink(commitURL, step.Commit),
		))
	}
	b.WriteString("\n")
	if skipped := len(r.Steps) - len(shown); skipped > 0 {
		b.WriteString(plural(skipped, "earlier step") + " not shown.\n\n")
	}
	return b.String()
}

// measured lists what the gates that count or compare something have seen in the latest
// steps, where they passed. Of those that did not the explanation tells.
func measured(r event.Result) string {
	var lines []string
	for _, step := range r.Steps {
		for _, gate := range step.Gates {
			if gate.Measures && gate.Progress == event.Passed {
				lines = append(lines, "- "+code(step.Name, maxLabel)+", gate "+code(gate.Name, maxLabel)+": "+reason(gate.Reason, maxReason)+"\n")
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines[max(0, len(lines)-maxMeasured):], "") + "\n"
}

func progressIcon(p event.Progress) string {
	switch p {
	case event.Running:
		return "🔄"
	case event.Passed:
		return "✅"
	case event.Broken:
		return "❌"
	case event.Inconclusive:
		return "❔"
	case event.Skipped:
		return "⏭️"
	}
	return "▫️"
}

func gateCells(results []event.Gate) string {
	var parts []string
	for _, gate := range results[:min(len(results), maxGates)] {
		parts = append(parts, progressIcon(gate.Progress)+" "+cell(gate.Name, maxLabel))
	}
	return strings.Join(parts, " ")
}

// shareAfter is the share of Result.Revision after a step. A rollback has no
// steps: the revision that it goes to gets everything.
func shareAfter(step event.Step) int {
	if step.Name == "rollback" {
		return 100
	}
	return min(max(step.Percent, 0), 100)
}

func stepTime(step event.Step) string {
	earlier := ""
	if step.Resumed {
		earlier = ", commit of an earlier run"
	}
	switch {
	case step.Started.IsZero():
		return strings.TrimPrefix(earlier, ", ")
	case step.Ended.IsZero():
		return "since " + step.Started.UTC().Format("15:04:05 UTC") + earlier
	}
	return duration(step.Ended.Sub(step.Started)) + earlier
}

var commitHash = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// commitLink shows an abbreviated commit, with a link where base is known.
func commitLink(base, commit string) string {
	if commit == "" {
		return ""
	}
	if !commitHash.MatchString(commit) {
		return cell(commit, maxLabel)
	}
	label := "`" + commit[:7] + "`"
	if base == "" {
		return label
	}
	return link(label, base+commit)
}
