package plan

import (
	"errors"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
)

// unusable is a tip whose overlay somebody has to correct before it can be edited.
type unusable struct{ error }

// Unwrap gives the reason.
func (u unusable) Unwrap() error { return u.error }

// IsUnusable tells whether an error is of a tip whose overlay does not render, or whose Service
// Knative refuses however it is edited.
func IsUnusable(err error) bool {
	_, is := errors.AsType[unusable](err)
	return is
}

// MayPass tells whether the error of a commit may pass: somebody may correct a tip that cannot be used and, once users have a step,
// so that it has taken commits before, the server of the repository may answer again.
func MayPass(err error, committed bool) bool {
	return IsUnusable(err) || committed && (remote.MayPass(err) || errors.Is(err, gitops.ErrContention))
}
