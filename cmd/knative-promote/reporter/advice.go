package reporter

import (
	"errors"
	"fmt"

	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/record"
)

// after tells people what they can do about a run that did not end well, with
// the commands to paste.
func after(s inputs.Settings, result event.Result, err error) string {
	var restore *promote.RestoreError
	var stopped *check.StopError
	var elsewhere *record.ElsewhereError
	switch {
	case errors.As(err, &elsewhere):
		if elsewhere.Before == "" {
			return ""
		}
		return "Where the record was moved here with its folder, to roll back to what had all traffic before:\n  " + s.RollbackTo(elsewhere.Before)
	case errors.As(err, &stopped):
		text := "To promote all the same:\n  " + s.CommandLine(inputs.Promote, func(in inputs.Input) bool { return in.Name != "preflight" }) + " --preflight " + string(promote.PreflightWarn)
		if result.Status == event.Held {
			text += toRollBack(s, result)
		}
		return text
	case errors.As(err, &restore):
		return notRestored(s, result)
	case result.Command == inputs.Rollback && result.Further != "":
		return "To roll back further:\n  " + s.RollbackTo(result.Further)
	case result.Command == inputs.Rollback, result.Command == inputs.Diff:
		return ""
	case result.Status.End().GoesOn, result.Status == event.Failed && result.Changed:
		return onward(s, result, err)
	case result.Status == event.Superseded:
		return "Nothing was rolled back: what is in the infra repository now is somebody else's, and stays." + served(result) +
			"\nTo see whether that can become live:\n  " + s.CheckCommand() + toRollBack(s, result)
	}
	return ""
}

// notRestored says what is left where a rollback failed or was not seen live.
func notRestored(s inputs.Settings, result event.Result) string {
	if result.WithoutPod != "" {
		return withoutPod(s, result)
	}
	text := "A person must look: the traffic may still go to the new revision." + served(result)
	last, found := result.Last()
	switch {
	case found && last.RollsBack() && result.RollbackTo != "":
		return text + fmt.Sprintf("\nThe commit %.10s that rolls back is in the infra repository, and the traffic does not go where it leads. To have Git give all of it to %s, which serves most of the users:\n  ", last.Commit, result.RollbackTo) +
			s.RollbackTo(result.RollbackTo)
	case found && last.RollsBack():
		return text + fmt.Sprintf("\nThe commit %.10s that rolls back is in the infra repository, and nobody has seen it live. To see what keeps it from that:\n  ", last.Commit) +
			s.CheckCommand() + "\nTo wait for it again:\n  " + s.RollbackCommand()
	case result.Command == inputs.Rollback:
		return text + "\nThe commit that rolls back could not be made, so nothing was changed. To see what keeps it:\n  " + s.CheckCommand()
	}
	return text + toRollBack(s, result)
}

// withoutPod says what is left where all users were given a revision of which no pod starts.
func withoutPod(s inputs.Settings, result event.Result) string {
	text := fmt.Sprintf("A person must look: Git and Knative give all users to %s, and no pod of it starts, for example because its image is in no registry any more.", result.WithoutPod)
	if result.RollbackTo == "" {
		return text + "\nThe record has no other version that was good before: bring the image back, or promote one that is good, with steps that end with 100."
	}
	return text + fmt.Sprintf("\nTo have Git give all of them to %s, which was good before:\n  ", result.RollbackTo) + s.RollbackTo(result.RollbackTo) +
		"\nTo look once more whether a pod has started:\n  " + s.RollbackCommand()
}

// served says who was served by which revision when that was last seen.
func served(result event.Result) string {
	if len(result.Served) == 0 {
		return ""
	}
	return " Users were served by " + knative.Describe(result.Served) + " when that was last seen."
}

// onward is what can be done about a promotion that stands where its last
// commit has put it. One that its steps have ended needs further ones.
func onward(s inputs.Settings, result event.Result, err error) string {
	same := s.CommandLine(inputs.Promote, func(inputs.Input) bool { return true })
	if last, found := result.Last(); !found || last.RollsBack() {
		return "To try it again:\n  " + same
	}
	if result.Status == event.Held && err == nil {
		same = s.FurtherCommand()
	}
	return "To continue:\n  " + same + toRollBack(s, result)
}

// toRollBack is the command that rolls a promotion back, where there is something to
// roll back to. It names that: somebody may have taken the promotion out of Git by the time
// that it is pasted, and without a name it would lead one further.
func toRollBack(s inputs.Settings, result event.Result) string {
	if result.RollbackTo == "" {
		return ""
	}
	return "\nTo roll it back:\n  " + s.RollbackTo(result.RollbackTo)
}
