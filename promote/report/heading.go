package report

import (
	"fmt"
	"slices"

	"github.com/acme/knative-promote/promote"
)

// heading says in a line what happened, or is happening.
func heading(r promote.Result) string {
	icon, words := outcome(r)
	where := code(r.Service, maxName)
	if r.Environment != "" {
		where += " in " + code(r.Environment, maxName)
	}
	return "## " + icon + " " + where + ": " + words + "\n\n"
}

// outcome is how the run ended, or where it is.
func outcome(r promote.Result) (icon, words string) {
	noun := "promotion"
	if r.Command == promote.CommandRollback {
		noun = "rollback"
	}
	if planned(r) {
		return "🔍", "what a " + noun + " would change"
	}
	switch r.Status {
	case promote.Promoted:
		return "✅", "promoted"
	case promote.Unchanged:
		return "☑️", "nothing to change"
	case promote.RolledBack:
		return "↩️", rolledBackInWords(r)
	case promote.Held:
		return "⏸️", heldInWords(r)
	case promote.Superseded:
		return "⏭️", noun + " superseded by a newer change"
	case promote.Frozen:
		return "❄️", noun + " frozen"
	case promote.NotYet:
		return "⏳", noun + " not yet possible"
	case promote.Proposed:
		return "📬", noun + atPercent(r) + ", a pull request is open"
	case promote.NotMerged:
		return "🚧", noun + atPercent(r) + ", a pull request was not merged"
	case promote.Failed:
		return "❌", noun + " failed" + atPercent(r)
	case promote.Cancelled:
		return "🛑", noun + " cancelled" + atPercent(r)
	}
	return "🔄", noun + " under way" + atPercent(r)
}

// planned reports whether the run only says what it would do, and does say it.
func planned(r promote.Result) bool {
	_, found := r.Last()
	return (r.DryRun || r.Command == promote.CommandDiff) && r.Status != promote.Failed || r.Status == promote.Held && !found
}

// missed reports whether the run has ended and Git does not show all that it
// was to change.
func missed(r promote.Result) bool {
	if r.Status == "" || planned(r) {
		return false
	}
	last, found := r.Last()
	if !found || r.Command == promote.CommandRollback {
		return !found
	}
	return last.RollsBack() || slices.ContainsFunc(r.Steps, func(s promote.StepResult) bool { return !s.Committed() && !s.RollsBack() })
}

// heldInWords tells a failure that is left as it is, what keeps the run from its next
// step, and a plan that ends below 100 %.
func heldInWords(r promote.Result) string {
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
func unreached(r promote.Result) bool {
	return slices.ContainsFunc(r.Steps, func(s promote.StepResult) bool { return s.Progress == promote.Skipped })
}

func gateBroken(r promote.Result) bool {
	return slices.ContainsFunc(r.Steps, func(s promote.StepResult) bool { return s.Progress == promote.Broken })
}

// gateUnclear tells whether the run ended with a gate that was inconclusive.
func gateUnclear(r promote.Result) bool {
	last, found := r.Last()
	return found && last.Progress == promote.Broken && slices.ContainsFunc(last.Gates, func(g promote.GateResult) bool { return g.Progress == promote.Inconclusive }) &&
		!slices.ContainsFunc(last.Gates, func(g promote.GateResult) bool { return g.Progress == promote.Broken })
}

func rolledBackInWords(r promote.Result) string {
	if r.Command == promote.CommandRollback {
		return "rolled back"
	}
	return "promotion failed, rolled back"
}

// atPercent is the share of the new revision that the last commit set.
func atPercent(r promote.Result) string {
	last, found := r.Last()
	if !found || last.RollsBack() {
		return ""
	}
	return fmt.Sprintf(" at %d %%", last.Percent)
}
