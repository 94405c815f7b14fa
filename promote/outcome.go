package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/source"
)

// An ending is all that decides how a run ended.
type ending struct {
	reached event.Status // the end of a run that nothing stopped
	cause   error        // what stopped it
	hold    bool         // the traffic stays as the last commit set it

	back   bool  // it was to be rolled back, or the run is a rollback whose commit is made
	failed error // why that failed, or was not seen live; nil: it is live
	atOnce bool  // there was no time to see it live, as the run was cancelled
}

// outcome decides how a run ended, and which error it ends with.
func (e ending) outcome(cancelled bool) (event.Status, error) {
	switch {
	case e.cause == nil && e.failed == nil:
		return e.reached, nil
	case isSuperseded(e.cause):
		return event.Superseded, e.cause
	case !e.back && cancelled:
		return event.Cancelled, e.cause
	case !e.back && e.hold:
		return event.Held, e.cause
	case !e.back && guard.IsFrozen(e.cause):
		return event.Frozen, e.cause
	case !e.back && (source.IsNotYet(e.cause) || guard.IsUnmet(e.cause)):
		return event.NotYet, e.cause
	case !e.back && errors.Is(e.cause, review.ErrNotWaited):
		return event.Proposed, nil
	case !e.back && pull.IsNotMerged(e.cause):
		return event.NotMerged, e.cause
	case !e.back:
		return event.Failed, e.cause
	case e.failed == nil && !e.atOnce:
		return event.RolledBack, e.cause
	case e.cause != nil && isSuperseded(e.failed) && !e.atOnce:
		return event.Superseded, e.failed
	case cancelled && (e.failed == nil || ask.IsGate(e.failed)):
		return event.Cancelled, e.unseen()
	case cancelled:
		return event.Cancelled, &RestoreError{Cause: e.cause, Err: e.failed}
	}
	return event.Failed, &RestoreError{Cause: e.cause, Err: e.failed}
}

// unseen is the error of what is rolled back in Git alone, as far as the run
// knows.
func (e ending) unseen() error {
	if e.cause == nil {
		return fmt.Errorf("the commit is made, but the run was cancelled before it was seen live: %w", e.failed)
	}
	return fmt.Errorf("%w; it is restored in Git, but not seen live", e.cause)
}

// Ended decides how a command ended that only looks, and which error it ends
// with.
func Ended(ctx context.Context, err error) (event.Status, error) {
	return ending{reached: event.Unchanged, cause: err}.of(ctx, Systems{}.cancelled(ctx))
}

// of is the outcome. Where the run's own timeout ended it, the error says so.
func (e ending) of(ctx context.Context, cancelled bool) (event.Status, error) {
	status, err := e.outcome(cancelled)
	if status == event.Failed {
		err = Overdue(ctx, err)
	}
	return status, err
}

// debug says what the run's end was decided from.
func (e ending) debug(j *journal.Journal, status event.Status, cancelled bool) {
	j.Debug("outcome %s: reached %q, cancelled %t, hold %t, roll back %t, at once %t, cause: %v, failed: %v",
		status, e.reached, cancelled, e.hold, e.back, e.atOnce, e.cause, e.failed)
}

// heldFor leaves the traffic where it is although a gate has failed, as Knative
// could not route to what it would be rolled back to, or somebody has moved it past Git
// to something else.
func heldFor(cause, down error) ending {
	return ending{cause: fmt.Errorf("%w; not rolled back: %w", cause, down), hold: true}
}

// ending is how the target ends in a run that ends so: what the run rolls back
// need not be all that it has.
func (p *targetRun) ending(e ending) ending {
	e.reached = cmp.Or(p.reached, event.Unchanged)
	switch {
	case isSuperseded(p.lost) && (len(p.config.Targets) > 1 || e.cause == nil):
		return ending{cause: p.lost}
	case isDown(p.lost):
		return heldFor(errors.New(e.cause.Error()), p.lost)
	case p.lost != nil:
		e.failed = p.lost
	case p.stays:
		e.back, e.failed, e.atOnce = false, nil, false
	}
	if isSuperseded(e.cause) && len(p.config.Targets) > 1 {
		e.cause = errors.New(e.cause.Error()) // another target is
	}
	if guard.Holds(e.cause) && !p.committed() {
		e.hold = false
	}
	return e
}
