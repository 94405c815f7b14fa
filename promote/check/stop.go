package check

import (
	"errors"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/event"
)

// StopError is a promotion that ended before its first commit, because of
// something that would have broken it.
type StopError struct {
	Findings []event.Finding // of every severity, the errors first
}

// Error names the problems.
func (e *StopError) Error() string {
	var problems []string
	for _, f := range e.Findings {
		if f.Severity == event.SeverityError {
			problems = append(problems, f.Problem+" ["+f.Rule+"]")
		}
	}
	return "the preflight found what would break the promotion, nothing was pushed: " + strings.Join(problems, "; ")
}

// IsDrifted tells whether the preflight has found that others have the traffic than Git
// says.
func IsDrifted(err error) bool {
	stop, is := errors.AsType[*StopError](err)
	return is && slices.ContainsFunc(stop.Findings, func(f event.Finding) bool { return f.Rule == Drifted && f.Severity == event.SeverityError })
}
