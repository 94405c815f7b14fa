// Package exit says how a run ended to what started it: the exit code, and the title of the
// error.
package exit

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/setting"
)

// The codes. 2 is not among them: it is what a Go program ends with when
// it crashes, and what many tools end with on a wrong flag.
const (
	OK          = 0
	Internal    = 1
	Input       = 3
	Auth        = 4
	Contention  = 5
	Superseded  = 6
	Timeout     = 7
	RolledBack  = 8
	Held        = 9
	NotRestored = 10
	Cancelled   = 11
	Refused     = 12
	Errors      = 13
	Warnings    = 14
	NotYet      = 15
	NotMerged   = 17
)

// A Row is a code and what it means.
type Row struct {
	Code    int
	Name    string
	Meaning string
}

// Table is the table of exit codes.
func Table() []Row {
	return []Row{
		{OK, "done", "promoted, unchanged, held as the steps ask, proposed by a pull request that is not waited for, prepared, or rolled back by the command rollback"},
		{Internal, "failed", "anything without a code of its own, such as an overlay that cannot be promoted"},
		{Input, "bad input", "inputs are wrong or missing, or name what does not exist or belong together; nothing was changed"},
		{Auth, "not allowed", "Git or Argo CD did not accept the credentials, or not for this"},
		{Contention, "contention", "other pushes took the branch again and again"},
		{Superseded, "superseded", "a newer promotion or a person's change of the same service won"},
		{Timeout, "timeout", "Git or Argo CD cannot be reached, or the time was over before anything could be decided"},
		{RolledBack, "gate failed, rolled back", "a gate failed, and what was there before is live again"},
		{Held, "gate failed, held", "a gate failed, or a freeze or what the preflight finds came between two steps, and the traffic stays as it was"},
		{NotRestored, "rollback failed", "rolling back failed after a gate or as a command, or its commit was not seen live; a person must look"},
		{Cancelled, "cancelled", "the run was cancelled"},
		{Refused, "push refused", "the Git server refuses the commit, as for a protected branch"},
		{Errors, "errors found", "the command check or diff, the preflight of a promotion, or prepare on a push, found what would break it, or the file of the freezes or knative-promote.yaml cannot be read; nothing was changed"},
		{Warnings, "warnings found", "the command check found warnings and no errors, and fail-on is warning"},
		{NotYet, "not yet", "the infra repository's windows let the service have no more traffic now, the environment that its images come from has not shown yet that they are good, or knative-promote.yaml wants more since the run began; nothing was changed"},
		{NotMerged, "not merged", "a pull request with the next commit was closed, or not merged in time; the traffic stays as the last commit set it"},
	}
}

// Code is the code for how a run ended. What the run decided comes before
// what it met, and one that has changed something never ends as bad input.
func Code(err error, result event.Result) int {
	switch end := result.Status.End(); {
	case err == nil && !end.Bad:
		return OK
	case is[*promote.RestoreError](err):
		return NotRestored
	case end.Code != 0:
		return end.Code
	}
	if code := OfError(err); code != Input || !result.Changed {
		return code
	}
	return Internal
}

// OfError is the code of a run that failed before it could decide what to
// leave behind.
func OfError(err error) int {
	var found *foundError
	switch failed := is[*ask.GateError](err); {
	case is[*inputs.BadInput](err), is[*setting.InputError](err), is[*argo.SourceError](err) && !failed:
		return Input
	case is[*check.StopError](err), is[*guard.FreezeError](err), is[*guard.PipelineError](err): // of a file that cannot be read
		return Errors
	case errors.As(err, &found):
		return found.code
	case isAny(err, plan.ErrSuperseded, argo.ErrSuperseded):
		return Superseded
	case isAny(err, remote.ErrAuth, argo.ErrAuth):
		return Auth
	case isAny(err, gitops.ErrContention):
		return Contention
	case isAny(err, remote.ErrRefused):
		return Refused
	case isAny(err, remote.ErrNotFound, argo.ErrNotFound, gitops.ErrPlainOnly), isAny(err, argo.ErrAddress) && !failed:
		return Input
	case isAny(err, gate.ErrTimeout, context.DeadlineExceeded), isAny(err, remote.ErrUnreachable, argo.ErrUnreachable) && !failed:
		return Timeout
	case isAny(err, context.Canceled):
		return Cancelled
	case failed:
		return Held
	}
	return Internal
}

func is[E error](err error) bool {
	_, found := errors.AsType[E](err)
	return found
}

func isAny(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// Title is the title of the error that a run ends with.
func Title(code int, err error) string {
	switch {
	case code == Held && !is[*ask.GateError](err):
		return "Held" // no gate has failed, the next step may not be published
	case code == NotRestored && isAny(err, promote.ErrUnseen):
		return "Not seen live"
	case code == Timeout && !isAny(err, gate.ErrTimeout):
		return "No answer"
	case code == NotYet && is[*guard.FreezeError](err):
		return "Frozen"
	}
	return name(code)
}

// name is the title of what ends with the code.
func name(code int) string {
	for _, e := range Table() {
		if e.Code == code {
			return strings.ToUpper(e.Name[:1]) + e.Name[1:]
		}
	}
	return "Failed"
}

// A foundError is what was found, where that ends a run.
type foundError struct {
	code int
	text string
}

func (e *foundError) Error() string { return e.text }

// Found is nil unless something was found that is as bad as the run may fail on.
func Found(failOn string, findings []event.Finding) error {
	switch {
	case failOn == inputs.FailOnNever:
		return nil
	case event.Count(findings, event.SeverityError) > 0:
		return &foundError{Errors, event.Tally(findings)}
	case event.Count(findings, event.SeverityWarning) > 0 && failOn == inputs.FailOnWarning:
		return &foundError{Warnings, event.Tally(findings)}
	}
	return nil
}
