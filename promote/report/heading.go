package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// heading says in a line what happened, or is happening.
func heading(r event.Result) string {
	icon, words := outcome(r)
	where := code(r.Service, maxName)
	if r.Environment != "" {
		where += " in " + code(r.Environment, maxName)
	}
	return "## " + icon + " " + where + ": " + words + "\n\n"
}

// outcome is how the run ended, or where it is.
func outcome(r event.Result) (icon, words string) {
	noun := "promotion"
	if r.Command == event.CommandRollback {
		noun = "rollback"
	}
	if planned(r) {
		return "🔍", "what a " + noun + " would change"
	}
	end := r.Status.End()
	words = strings.NewReplacer("RUN", noun, "AT", atPercent(r)).Replace(end.Words)
	switch {
	case r.Status == "":
		return "🔄", noun + " under way" + atPercent(r)
	case r.Status == event.Held:
		words = heldInWords(r)
	case r.Status == event.RolledBack && r.Command == event.CommandRollback:
		words = "rolled back"
	}
	return end.Icon, words
}

// planned reports whether the run only says what it would do, and does say it.
func planned(r event.Result) bool {
	_, found := r.Last()
	return (r.DryRun || r.Command == event.CommandDiff) && r.Status != event.Failed || r.Status == event.Held && !found
}

// missed reports whether the run has ended and Git does not show all that it
// was to change.
func missed(r event.Result) bool {
	if r.Status == "" || planned(r) {
		return false
	}
	last, found := r.Last()
	if !found || r.Command == event.CommandRollback {
		return !found
	}
	return last.RollsBack() || slices.ContainsFunc(r.Steps, func(s event.Step) bool { return !s.Committed() && !s.RollsBack() })
}

// heldInWords tells a failure that is left as it is, what keeps the run from its next
// step, and a plan that ends below 100 %.
func heldInWords(r event.Result) string {
	if gateUnclear(r) {
		return "not decided, held" + atPercent(r)
	}
	if gateBroken(r) {
		return "promotion failed, held" + atPercent(r)
	}
	if r.Frozen {
		return "frozen" + atPercent(r) + ", held"
	}
	if unreached(r) {
		return "stopped" + atPercent(r) + ", held"
	}
	return "stopped" + atPercent(r) + ", as asked"
}

// unreached tells whether the run ended before a step of its plan.
func unreached(r event.Result) bool {
	return slices.ContainsFunc(r.Steps, func(s event.Step) bool { return s.Progress == event.Skipped })
}

func gateBroken(r event.Result) bool {
	return slices.ContainsFunc(r.Steps, func(s event.Step) bool { return s.Progress == event.Broken })
}

// gateUnclear tells whether the run ended with a gate that was inconclusive.
func gateUnclear(r event.Result) bool {
	last, found := r.Last()
	return found && last.Progress == event.Broken && slices.ContainsFunc(last.Gates, func(g event.Gate) bool { return g.Progress == event.Inconclusive }) &&
		!slices.ContainsFunc(last.Gates, func(g event.Gate) bool { return g.Progress == event.Broken })
}

// atPercent is the share of the new revision that the last commit set.
func atPercent(r event.Result) string {
	last, found := r.Last()
	if !found || last.RollsBack() {
		return ""
	}
	return fmt.Sprintf(" at %d %%", last.Percent)
}
