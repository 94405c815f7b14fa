package report

import (
	"context"
	"fmt"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// explanation says why it ended so, and what to do next.
func explanation(r event.Result, at Place) string {
	var b strings.Builder
	stopped := r.Status == event.Held && !gateBroken(r) && !unreached(r)
	if r.Reason != "" && !stopped && !strings.HasSuffix(r.Reason, context.Canceled.Error()) {
		fmt.Fprintf(&b, "**Why:** %s\n\n", reason(r.Reason, maxReason))
	}
	lines := brokenGateLines(r)
	b.WriteString(strings.Join(lines, ""))
	if len(lines) > 0 {
		b.WriteString("\n")
	}
	return b.String() + advice(r, at)
}

func brokenGateLines(r event.Result) []string {
	if r.Status == event.Cancelled || r.Status == event.Superseded {
		return nil // the gate was only asked when it happened
	}
	var lines []string
	for _, step := range r.Steps {
		for _, gate := range step.Gates {
			became := map[event.Progress]string{event.Broken: "failed", event.Inconclusive: "was inconclusive"}[gate.Progress]
			if became == "" || len(lines) == maxGates {
				continue
			}
			line := "- Gate " + code(gate.Name, maxLabel) + " " + became + " after step " + code(step.Name, maxLabel)
			if gate.Reason != "" && !strings.Contains(r.Reason, gate.Reason) {
				line += ": " + reason(gate.Reason, maxReason)
			}
			lines = append(lines, line+"\n")
		}
	}
	return lines
}

// advice is what the reader can do about a run that did not end well.
func advice(r event.Result, at Place) string {
	if planned(r) {
		return ""
	}
	switch r.Status {
	case event.RolledBack:
		if r.Command == event.CommandRollback {
			return noted(r)
		}
		return "**Next:** " + asBefore(r) +
			"Find the cause in the events and logs of revision " + code(r.Revision, maxName) + ", then promote a fixed image.\n\n"
	case event.Held:
		return "**Next:** the traffic stays as it is. To continue, start the same run again: it goes on from the last commit. " + rollbackAdvice(r, at)
	case event.Proposed, event.NotMerged:
		return unmergedAdvice(r, at)
	case event.Frozen, event.NotYet:
		return "**Next:** nothing was changed. Start the same run again when it is over.\n\n"
	case event.Cancelled, event.Failed:
		return unfinishedAdvice(r, at)
	case event.Superseded:
		return "**Next:** a newer change to the same fields is in Git, and this run left it alone. Look whether that is live: " +
			"until it is, users get what they got before it. " + rollbackAdvice(r, at)
	}
	return ""
}

// asBefore says what a promotion has left that was rolled back.
func asBefore(r event.Result) string {
	if r.Warning == "" {
		return "image, revision and traffic are as they were before; nothing is left to roll back. "
	}
	return "the traffic is as it was before. Not all is: " + reason(r.Warning, maxReason) + ". "
}

// noted says what a person should know of a rollback; empty: nothing.
func noted(r event.Result) string {
	if r.Warning == "" {
		return ""
	}
	return "**Note:** " + reason(r.Warning, maxReason) + "\n\n"
}

// unmergedAdvice says how a run goes on whose next commit is a pull request.
func unmergedAdvice(r event.Result, at Place) string {
	next := "**Next:** merge the pull request, then start the same run again: it goes on from there. "
	if _, found := r.Last(); !found {
		return next + "Nothing was changed.\n\n"
	}
	return next + "The traffic stays as the last commit below sets it. " + rollbackAdvice(r, at)
}

func unfinishedAdvice(r event.Result, at Place) string {
	last, found := r.Last()
	switch {
	case !found:
		return "**Next:** nothing was changed. Start the run again when the cause is gone.\n\n"
	case last.RollsBack() && last.Progress == event.Passed:
		return "**Next:** " + strings.TrimSpace(asBefore(r)) + "\n\n"
	case r.WithoutPod != "":
		return "**Next:** Git and Knative give all users to " + code(r.WithoutPod, maxName) + ", and no pod of it starts, for example because its image is in no registry any more. " + furtherAdvice(r)
	case last.RollsBack() && r.RollbackTo != "":
		return "**Next:** the commit that rolls everything back is in Git, and the traffic does not go where it leads. " +
			"To have Git give all of it to " + code(r.RollbackTo, maxName) + ", which serves most of the users, use `rollback` with " + code("to: "+r.RollbackTo, maxName) + ".\n\n"
	case last.RollsBack():
		return "**Next:** the commit that rolls everything back is in Git, but was not seen live. " +
			"Look at the Argo CD application; Git needs nothing more.\n\n"
	}
	return "**Next:** Git stays at the last commit below. To continue, start the same run again: it goes on from there. " + rollbackAdvice(r, at)
}

// furtherAdvice is how users leave a revision of which no pod starts.
func furtherAdvice(r event.Result) string {
	if r.RollbackTo == "" {
		return "The record has no other version that was good before: bring the image back, or promote one that is good, with steps that end with 100.\n\n"
	}
	return "To have Git give all of them to " + code(r.RollbackTo, maxName) + ", which was good before, use `rollback` with " + code("to: "+r.RollbackTo, maxName) + ".\n\n"
}

// rollbackAdvice is the command that rolls the promotion back.
func rollbackAdvice(r event.Result, at Place) string {
	if r.RollbackTo == "" {
		return "There is no earlier revision to roll back to.\n\n"
	}
	command := ""
	if at.RollbackTo != nil {
		command = at.RollbackTo(r.RollbackTo)
	}
	if command == "" || len(command) > maxRollback { // a part of a command is none
		return "To roll it back, use the command `rollback`.\n\n"
	}
	var needs []string
	for _, name := range at.RollbackNeeds {
		needs = append(needs, code(name, maxLabel))
	}
	where := ""
	if len(needs) > 0 {
		where = ", with " + strings.Join(needs, ", ") + " in the environment"
	}
	return "To roll it back" + where + ":\n\n" + fenced("sh", command) + "\n"
}
