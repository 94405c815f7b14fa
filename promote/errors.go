package promote

import (
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// Overdue is an error that says so where the run's timeout has led to it: what was
// met last only says that it got no answer.
func Overdue(ctx context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(ctx), gate.ErrTimeout) || errors.Is(err, gate.ErrTimeout) {
		return err
	}
	return fmt.Errorf("%w: %w", gate.ErrTimeout, err)
}

// RestoreError is a Service that could not be rolled back to what was there
// before, or that was not seen live after it.
type RestoreError struct {
	Cause error // why it had to be rolled back; nil when somebody asked for it
	Err   error // why that failed
}

// ErrUnseen is how a rollback ends whose commit nobody was to see live.
var ErrUnseen = errors.New("the commit that rolls back is in the infra repository, and nobody has seen it live, as the input unseen asks: Argo CD has to apply it, and Knative to route it")

// Error names both causes, the first one first.
func (e *RestoreError) Error() string {
	switch {
	case errors.Is(e.Err, ErrUnseen):
		return e.Err.Error()
	case e.Cause == nil:
		return fmt.Sprintf("rolling back failed: %v", e.Err)
	}
	return fmt.Sprintf("%v; rolling back failed: %v", e.Cause, e.Err)
}

// Unwrap gives both causes.
func (e *RestoreError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Err}
	}
	return []error{e.Cause, e.Err}
}

func isSuperseded(err error) bool {
	return errors.Is(err, plan.ErrSuperseded) || errors.Is(err, argo.ErrSuperseded)
}

// A downError is a revision that a commit would have to give traffic to, and that
// Knative cannot route to.
type downError struct {
	Revision string
	plan.Readiness
}

// Error says what is left to do.
func (e *downError) Error() string {
	return fmt.Sprintf("revision %s, which had the traffic before, %s, so Knative would route nothing anew: promote an image that is good, with steps that end with 100: it gets there in one; or name another revision with rollback --to",
		e.Revision, e.Why)
}

func isDown(err error) bool {
	_, is := errors.AsType[*downError](err)
	return is
}
