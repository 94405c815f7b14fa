package report

import (
	"strings"

	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/manifest"
)

// The most findings that one page shows: in full, and in one line each.
const (
	maxFound   = 50
	maxBrief   = 10
	maxProblem = 400 // bytes
	maxFix     = 4000
)

// CheckSummary is what the job summary says of a check.
func CheckSummary(r check.Report) string {
	icon := "✅"
	if len(r.Findings) > 0 {
		icon = severityIcon(r.Findings[0].Severity) // the worst comes first
	}
	var b strings.Builder
	b.WriteString("## " + icon + " " + code(r.Service, maxName) + ": " + check.Tally(r.Findings) + "\n\n")
	for _, f := range r.Findings[:min(len(r.Findings), maxFound)] {
		b.WriteString(fullFinding(f))
	}
	if left := len(r.Findings) - maxFound; left > 0 {
		b.WriteString(plural(left, "more finding") + " in the log.\n\n")
	}
	var looked []string
	for _, what := range r.Looked {
		looked = append(looked, code(what, maxName))
	}
	if len(looked) > 0 {
		b.WriteString("<sub>Looked at " + strings.Join(looked, ", ") + "</sub>\n")
	}
	return b.String()
}

// fullFinding shows one finding in full.
func fullFinding(f check.Finding) string {
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
func preflightList(r promote.Result) string {
	list := findingList(r.Findings)
	if list == "" {
		return ""
	}
	return "**Preflight:**\n\n" + list + "\n"
}

// findingList names findings in one line each. Notes are left out: they are for
// the command check.
func findingList(findings []check.Finding) string {
	var b strings.Builder
	shown, left := 0, 0
	for _, f := range findings {
		switch {
		case f.Severity == check.Info:
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

func severityIcon(s check.Severity) string {
	switch s {
	case check.Error:
		return "❌"
	case check.Warning:
		return "⚠️"
	}
	return "ℹ️"
}
