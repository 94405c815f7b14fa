package report

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote"
)

// headline says at a glance what happened, or is happening.
func headline(r promote.Result) string {
	icon, words := status(r)
	where := code(r.Service, maxName)
	if r.Environment != "" {
		where += " in " + code(r.Environment, maxName)
	}
	return "## " + icon + " " + where + ": " + words + "\n\n"
}

func status(r promote.Result) (icon, words string) {
	noun := "promotion"
	if r.Command == "rollback" {
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
		return "↩️", rolledBack(r)
	case promote.Held:
		return "⏸️", held(r)
	case promote.Superseded:
		return "⏭️", noun + " superseded by a newer change"
	case promote.Failed:
		return "❌", noun + " failed" + reached(r)
	case promote.Cancelled:
		return "🛑", noun + " cancelled" + reached(r)
	}
	return "🔄", noun + " under way" + reached(r)
}

// planned reports whether the run only says what it would do, and does say it.
func planned(r promote.Result) bool {
	_, found := r.Last()
	return (r.DryRun || r.Command == "diff") && r.Status != promote.Failed || r.Status == promote.Held && !found
}

// missed reports whether the run has ended and Git does not show all that it
// was to change.
func missed(r promote.Result) bool {
	if r.Status == "" || planned(r) {
		return false
	}
	last, found := r.Last()
	if !found || r.Command == "rollback" {
		return !found
	}
	return last.TakesBack() || slices.ContainsFunc(r.Steps, func(s promote.StepResult) bool { return !s.Committed() && !s.TakesBack() })
}

// held tells a failure that is left as it is from a plan that ends below 100 %.
func held(r promote.Result) string {
	if broken(r) {
		return "promotion failed, held" + reached(r)
	}
	return "stopped" + reached(r) + ", as asked"
}

func broken(r promote.Result) bool {
	return slices.ContainsFunc(r.Steps, func(s promote.StepResult) bool { return s.Progress == promote.Broken })
}

func rolledBack(r promote.Result) string {
	if r.Command == "rollback" {
		return "rolled back"
	}
	return "promotion failed, rolled back"
}

// reached is the share of the new revision that the last commit set.
func reached(r promote.Result) string {
	last, found := r.Last()
	if !found || last.TakesBack() {
		return ""
	}
	return fmt.Sprintf(" at %d %%", last.Percent)
}

// explanation says why it ended so, and what to do next.
func explanation(r promote.Result) string {
	var b strings.Builder
	stopped := r.Status == promote.Held && !broken(r)
	if r.Reason != "" && !stopped && !strings.HasSuffix(r.Reason, context.Canceled.Error()) {
		fmt.Fprintf(&b, "**Why:** %s\n\n", reason(r.Reason, maxReason))
	}
	lines := brokenGates(r)
	b.WriteString(strings.Join(lines, ""))
	if len(lines) > 0 {
		b.WriteString("\n")
	}
	return b.String() + next(r)
}

func brokenGates(r promote.Result) []string {
	if r.Status == promote.Cancelled || r.Status == promote.Superseded {
		return nil // the gate was only asked when it happened
	}
	var lines []string
	for _, step := range r.Steps {
		for _, gate := range step.Gates {
			if gate.Progress != promote.Broken || len(lines) == maxGates {
				continue
			}
			line := "- Gate " + code(gate.Name, maxLabel) + " failed after step " + code(step.Name, maxLabel)
			if gate.Reason != "" && !strings.Contains(r.Reason, gate.Reason) {
				line += ": " + reason(gate.Reason, maxReason)
			}
			lines = append(lines, line+"\n")
		}
	}
	return lines
}

// next is what the reader can do about a run that did not end well.
func next(r promote.Result) string {
	if planned(r) {
		return ""
	}
	switch r.Status {
	case promote.RolledBack:
		if r.Command == "rollback" {
			return ""
		}
		return "**Next:** image, revision and traffic are as they were before; nothing has to be undone. " +
			"Find the cause in the events and logs of revision " + code(r.Revision, maxName) + ", then promote a fixed image.\n\n"
	case promote.Held:
		return "**Next:** the traffic stays as it is. To continue, start the same run again: it goes on from the last commit. " + undo(r)
	case promote.Cancelled, promote.Failed:
		return unfinished(r)
	case promote.Superseded:
		return "**Next:** nothing to do here. A newer change to the same fields is in Git, and this run left it alone.\n\n"
	}
	return ""
}

func unfinished(r promote.Result) string {
	last, found := r.Last()
	switch {
	case !found:
		return "**Next:** nothing was changed. Start the run again when the cause is gone.\n\n"
	case last.TakesBack() && last.Progress == promote.Passed:
		return "**Next:** image, revision and traffic are as they were before; nothing has to be undone.\n\n"
	case last.TakesBack():
		return "**Next:** the commit that takes everything back is in Git, but was not seen live. " +
			"Look at the Argo CD application; Git needs nothing more.\n\n"
	}
	return "**Next:** Git stays at the last commit below. To continue, start the same run again: it goes on from there. " + undo(r)
}

// undo is the command that takes the promotion back.
func undo(r promote.Result) string {
	if r.PreviousRevision == "" {
		return "There is no earlier revision to go back to.\n\n" // a first deployment
	}
	if r.Undo == "" || len(r.Undo) > maxUndo { // a part of a command is none
		return "To undo it, use the command `rollback`.\n\n"
	}
	var needs []string
	for _, name := range r.UndoNeeds {
		needs = append(needs, code(name, maxLabel))
	}
	where := ""
	if len(needs) > 0 {
		where = ", with " + strings.Join(needs, ", ") + " in the environment"
	}
	return "To undo it" + where + ":\n\n" + fenced("sh", r.Undo) + "\n"
}
