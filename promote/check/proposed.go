package check

import (
	"regexp"
	"slices"

	"github.com/acme/knative-promote/promote/event"
)

// proposedRules are asked about all that a change of the infra repository leads
// to: its manifests, its windows, its pipeline file, its records, and whether Argo CD can check it out.
func proposedRules() []Rule {
	return slices.Concat(manifestRules(), checkoutRules(), frozenRules(), pipelineRules(), recordRules())
}

// Proposed asks about the outcome of a change of the infra repository whether its
// manifests, its windows, its pipeline file and all that it adds are right.
func Proposed(facts Facts, skip ...string) []event.Finding {
	return run(proposedRules(), facts, skip)
}

// Brought is what all other rules find after a change of the infra repository and
// did not find before it, as far as the files tell. A rule that needs to know more
// than the facts have finds nothing. What is only good to know is left out: a pull
// request is not the place for it.
func Brought(before, after Facts, skip ...string) []event.Finding {
	known := map[string]bool{}
	for _, finding := range run(otherRules(), before, skip) {
		known[said(finding)] = true
	}
	return slices.DeleteFunc(run(otherRules(), after, skip), func(f event.Finding) bool {
		return f.Severity == event.SeverityInfo || known[said(f)]
	})
}

// completed are the rules about what overlays add to a base, such as an image or a securityContext.
var completed = []string{"pod-security", PolicyDenied, "service-refused", "startup-probe-without-port"}

// OfPart are the errors among the findings in a folder that others build on, as it may be deployed by
// itself too. Of one that is a base for them, what they may complete is a warning.
func OfPart(findings []event.Finding, base bool) (all []event.Finding) {
	for _, f := range findings {
		if f.Severity != event.SeverityError {
			continue
		}
		if base && slices.Contains(completed, f.Rule) {
			f.Severity = event.SeverityWarning
		}
		all = append(all, f)
	}
	return all
}

// otherRules are those that Proposed does not ask.
func otherRules() []Rule {
	return slices.DeleteFunc(Rules(), func(rule Rule) bool {
		return slices.ContainsFunc(proposedRules(), func(proposed Rule) bool { return proposed.ID == rule.ID })
	})
}

var lineNumber = regexp.MustCompile(`:\d+:`)

// said is the finding without the lines of files, which any change moves.
func said(f event.Finding) string {
	return f.Rule + "\n" + f.Problem + "\n" + lineNumber.ReplaceAllString(f.Evidence, ":")
}
