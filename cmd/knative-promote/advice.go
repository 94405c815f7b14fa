package main

import (
	"errors"
	"slices"

	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
)

// after tells people what they can do about a run that did not end well, with
// the commands to paste.
func after(s inputs.Settings, result promote.Result, err error) string {
	var restore *promote.RestoreError
	var stopped *promote.PreflightStop
	switch {
	case errors.As(err, &stopped):
		text := "To promote all the same:\n  " + s.CommandLine(inputs.Promote, func(in inputs.Input) bool { return in.Name != "preflight" }) + " --preflight " + string(promote.PreflightWarn)
		if result.Status == promote.Held {
			text += "\nTo roll it back:\n  " + s.RollbackCommand()
		}
		return text
	case errors.As(err, &restore):
		return "A person must look: the traffic may still go to the new revision. To roll it back by hand:\n  " + s.RollbackCommand()
	case result.Command == inputs.Rollback, result.Command == inputs.Diff:
		return ""
	case slices.Contains([]promote.Status{promote.Held, promote.Frozen, promote.NotYet, promote.Proposed, promote.NotMerged, promote.Cancelled}, result.Status), result.Status == promote.Failed && result.Changed:
		return onward(s, result)
	case result.Status == promote.Superseded:
		return "Nothing was rolled back: what is in the infra repository now is somebody else's."
	}
	return ""
}

// onward is what can be done about a promotion that stands where its last
// commit has put it.
func onward(s inputs.Settings, result promote.Result) string {
	same := s.CommandLine(inputs.Promote, func(inputs.Input) bool { return true })
	if last, found := result.Last(); !found || last.RollsBack() {
		return "To try it again:\n  " + same
	}
	return "To continue:\n  " + same + "\nTo roll it back:\n  " + s.RollbackCommand()
}
