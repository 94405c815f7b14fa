package argo

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/acme/knative-promote/internal/oneline"
)

var (
	// ErrAuth means that Argo CD does not accept the token, or not for this.
	ErrAuth = errors.New("not allowed by Argo CD")
	// errDenied is what it also says when it could not read the Application for a moment
	// (https://github.com/argoproj/argo-cd/blob/v2.14.21/server/application/application.go#L193-L194).
	errDenied = fmt.Errorf("%w: no such application, or the token may not do this", ErrAuth)
	// ErrNotFound means that Argo CD knows no such Application, Service or Revision.
	ErrNotFound = errors.New("not found")
	// ErrUnreachable means that Argo CD does not answer, which may pass.
	ErrUnreachable = errors.New("argo CD does not answer")
	// ErrAddress means that what answers is not Argo CD, or cannot be trusted: the inputs
	// that lead to it are wrong.
	ErrAddress = errors.New("this is not Argo CD")
	// ErrSuperseded means that a newer commit, which no longer carries the intent's
	// values, took the commit's place.
	ErrSuperseded = errors.New("superseded")
	// ErrBehind is for [Intent.Carries]: the revision is older than the commit, so
	// Argo CD has not seen the commit yet.
	ErrBehind = errors.New("behind the commit")
)

// FailedError means that the commit cannot become live.
type FailedError struct {
	Reason string // one line
	// Unapplied means that Argo CD has not applied the Service: the cluster refuses it, or
	// what the sync does before has failed.
	Unapplied bool
}

func (e *FailedError) Error() string { return e.Reason }

// IsUnapplied tells whether an error is a FailedError of a Service that was not applied.
func IsUnapplied(err error) bool {
	failed, is := errors.AsType[*FailedError](err)
	return is && failed.Unapplied
}

// SourceError means that the Application deploys something else than what was
// asked for.
type SourceError struct {
	Reason string // one line
	// OtherBranch means that nothing but the branch differs: the Application
	// deploys the overlay of the repository, from another branch, tag or commit.
	OtherBranch bool
}

func (e *SourceError) Error() string { return e.Reason }

// explain turns a call's error into one of the sentinels and cleans Argo CD's words.
func explain(err error) error {
	code, message := status.Code(err), oneline.Brief(status.Convert(err).Message())
	switch code {
	case codes.Unauthenticated:
		return fmt.Errorf("%w: the token is wrong, expired or revoked: %s", ErrAuth, message)
	case codes.PermissionDenied:
		return fmt.Errorf("%w: %s", errDenied, message)
	case codes.NotFound:
		return fmt.Errorf("%w: %s", ErrNotFound, message)
	case codes.InvalidArgument:
		// what GetResource answers for an object outside the Application's tree
		if strings.Contains(message, "not found as part of application") {
			return fmt.Errorf("%w: %s", ErrNotFound, message)
		}
	case codes.Unimplemented:
		return fmt.Errorf("%s: is this Argo CD, and is the root path right? (%w)", message, codeError(code))
	case codes.DeadlineExceeded, codes.Canceled:
		return fmt.Errorf("no answer in time: %s (%w)", message, codeError(code))
	}
	return fmt.Errorf("%s (%w)", message, codeError(code))
}

// A codeError is a call's status code, for callers that branch on it.
type codeError codes.Code

func (e codeError) Error() string { return codes.Code(e).String() }

// Is tells what of an address a code says.
func (e codeError) Is(target error) bool {
	switch codes.Code(e) {
	case codes.Unavailable, codes.DeadlineExceeded:
		return target == ErrUnreachable
	case codes.FailedPrecondition, codes.Unimplemented:
		return target == ErrAddress
	}
	return false
}

// hasCode tells whether the call that err came from ended with code.
func hasCode(err error, code codes.Code) bool {
	var e codeError
	return errors.As(err, &e) && codes.Code(e) == code
}
