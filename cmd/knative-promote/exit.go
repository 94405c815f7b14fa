package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// The exit codes. 2 is not among them: it is what a Go program ends with when
// it crashes, and what many tools end with on a wrong flag.
const (
	exitOK          = 0
	exitInternal    = 1
	exitInput       = 3
	exitAuth        = 4
	exitContention  = 5
	exitSuperseded  = 6
	exitTimeout     = 7
	exitRolledBack  = 8
	exitHeld        = 9
	exitNotRestored = 10
	exitCancelled   = 11
	exitRefused     = 12
	exitErrors      = 13
	exitWarnings    = 14
	exitNotYet      = 15
	exitNotMerged   = 17
)

// An exit is a code and what it means.
type exit struct {
	Code    int
	Name    string
	Meaning string
}

// exits is the table of exit codes.
func exits() []exit {
	return []exit{
		{exitOK, "done", "promoted, unchanged, held as the steps ask, proposed by a pull request that is not waited for, prepared, or rolled back by the command rollback"},
		{exitInternal, "failed", "anything without a code of its own, such as an overlay that cannot be promoted"},
		{exitInput, "bad input", "inputs are wrong or missing, or name what does not exist or belong together; nothing was changed"},
		{exitAuth, "not allowed", "Git or Argo CD did not accept the credentials, or not for this"},
		{exitContention, "contention", "other pushes took the branch again and again"},
		{exitSuperseded, "superseded", "a newer promotion or a person's change of the same service won"},
		{exitTimeout, "timeout", "Git or Argo CD cannot be reached, or the time was over before anything could be decided"},
		{exitRolledBack, "gate failed, rolled back", "a gate failed, and what was there before is live again"},
		{exitHeld, "gate failed, held", "a gate failed, or a freeze or what the preflight finds came between two steps, and the traffic stays as it was"},
		{exitNotRestored, "rollback failed", "rolling back failed after a gate or as a command, or its commit was not seen live; a person must look"},
		{exitCancelled, "cancelled", "the run was cancelled"},
		{exitRefused, "push refused", "the Git server refuses the commit, as for a protected branch"},
		{exitErrors, "errors found", "the command check or diff, or the preflight of a promotion, found what would break it, or the file of the freezes or knative-promote.yaml cannot be read; nothing was changed"},
		{exitWarnings, "warnings found", "the command check found warnings and no errors, and fail-on is warning"},
		{exitNotYet, "not yet", "the infra repository's windows let the service have no more traffic now, the environment that its images come from has not shown yet that they are good, or knative-promote.yaml wants more since the run began; nothing was changed"},
		{exitNotMerged, "not merged", "a pull request with the next commit was closed, or not merged in time; the traffic stays as the last commit set it"},
	}
}

// exitCode is the code for how a run ended. What the run decided comes before
// what it met, and one that has changed something never ends as bad input.
func exitCode(err error, result event.Result) int {
	switch end := result.Status.End(); {
	case err == nil && !end.Bad:
		return exitOK
	case is[*promote.RestoreError](err):
		return exitNotRestored
	case end.Code != 0:
		return end.Code
	}
	if code := exitOfError(err); code != exitInput || !result.Changed {
		return code
	}
	return exitInternal
}

// exitOfError is the code of a run that failed before it could decide what to
// leave behind.
func exitOfError(err error) int {
	var found *foundError
	switch failed := is[*ask.GateError](err); {
	case is[*inputs.BadInput](err), is[*setting.InputError](err), is[*argo.SourceError](err) && !failed:
		return exitInput
	case is[*promote.PreflightStop](err), is[*guard.FreezeError](err), is[*guard.PipelineError](err): // of a file that cannot be read
		return exitErrors
	case errors.As(err, &found):
		return found.code
	case isAny(err, plan.ErrSuperseded, argo.ErrSuperseded):
		return exitSuperseded
	case isAny(err, gitops.ErrAuth, argo.ErrAuth):
		return exitAuth
	case isAny(err, gitops.ErrContention):
		return exitContention
	case isAny(err, gitops.ErrRefused):
		return exitRefused
	case isAny(err, gitops.ErrNotFound, argo.ErrNotFound, gitops.ErrPlainOnly), isAny(err, argo.ErrAddress) && !failed:
		return exitInput
	case isAny(err, gate.ErrTimeout, context.DeadlineExceeded), isAny(err, gitops.ErrUnreachable, argo.ErrUnreachable) && !failed:
		return exitTimeout
	case isAny(err, context.Canceled):
		return exitCancelled
	case failed:
		return exitHeld
	}
	return exitInternal
}

func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}

func isAny(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// errorTitle is the title of the error that a run ends with.
func errorTitle(code int, err error) string {
	switch {
	case code == exitHeld && !is[*ask.GateError](err):
		return "Held" // no gate has failed, the next step may not be published
	case code == exitNotRestored && isAny(err, promote.ErrUnseen):
		return "Not seen live"
	case code == exitTimeout && !isAny(err, gate.ErrTimeout):
		return "No answer"
	case code == exitNotYet && is[*guard.FreezeError](err):
		return "Frozen"
	}
	return exitName(code)
}

// exitName is the title of what ends with the code.
func exitName(code int) string {
	for _, e := range exits() {
		if e.Code == code {
			return strings.ToUpper(e.Name[:1]) + e.Name[1:]
		}
	}
	return "Failed"
}
