package report

import (
	"strings"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/manifest"
)

// The most findings that one page shows: in full, and in one line each.
const (
	maxFound   = 50
	maxBrief   = 10
	maxProblem = 400 // bytes
	maxFix     = 4000
)

// CheckSummary is what the job summary says of a check of a Service: what it found, the
// worst first, and what it looked at.
func CheckSummary(service string, findings []event.Finding, looked []string) string {
	icon := "✅"
	if len(findings) > 0 {
		icon = severityIcon(findings[0].Severity) // the worst comes first
	}
	var b strings.Builder
	b.WriteString("## " + icon + " " + code(service, maxName) + ": " + event.Tally(findings) + "\n\n")
	for _, f := range findings[:min(len(findings), maxFound)] {
		b.WriteString(fullFinding(f))
	}
	if left := len(findings) - maxFound; left > 0 {
		b.WriteString(plural(left, "more finding") + " in the log.\n\n")
	}
	var at []string
	for _, what := range looked {
		at = append(at, code(what, maxName))
	}
	if len(at) > 0 {
		b.WriteString("<sub>Looked at " + strings.Join(at, ", ") + "</sub>\n")
	}
	return b.String()
}

// fullFinding shows one finding in full.
func fullFinding(f event.Finding) string {
	where := ""
	if f.File != "" {
		where = " at " + code(f.Place(), maxName)
	}
	text := "### " + severityIcon(f.Severity) + " " + reason(f.Problem, maxProblem) + "\n\n" + reason(f.Effect, maxReason) + "\n\n"
	if f.Evidence != "" {
		text += "Seen" + where + ":\n\n" + redactedBlock(f.Evidence) + "\n"
	} else if where != "" {
		text += "Seen" + where + ".\n\n"
	}
	if f.Fix != "" {
		text += "To fix it:\n\n" + redactedBlock(f.Fix) + "\n"
	}
	return text + "<sub>Rule " + code(f.Rule, maxName) + " · " + link("documentation", f.Link) + "</sub>\n\n"
}

// redactedBlock shows text of several lines, without what looks like a secret.
func redactedBlock(text string) string {
	return fenced("", manifest.Shorten(manifest.HideSecrets(text), maxFix))
}

// preflightList names what a promotion found before its first commit.
func preflightList(r event.Result) string {
	list := findingList(r.Findings)
	if list == "" {
		return ""
	}
	return "**Preflight:**\n\n" + list + "\n"
}

// findingList names findings in one line each. Notes are left out: they are for
// the command check.
func findingList(findings []event.Finding) string {
	var b strings.Builder
	shown, left := 0, 0
	for _, f := range findings {
		switch {
		case f.Severity == event.SeverityInfo:
		case shown == maxBrief:
			left++
		default:
			shown++
			b.WriteString("- " + severityIcon(f.Severity) + " " + reason(f.Problem, maxProblem) + " (" + code(f.Rule, maxName) + ")\n")
		}
	}
	if left > 0 {
		b.WriteString("- " + plural(left, "more finding") + " in the log\n")
	}
	return b.String()
}

func severityIcon(s event.Severity) string {
	switch s {
	case event.SeverityError:
		return "❌"
	case event.SeverityWarning:
		return "⚠️"
	}
	return "ℹ️"
}
