package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
)

// How long a revision that was given users is looked at which has no pod. One that was scaled to
// zero is still Ready, also where its image is in no registry any more, and Knative starts a pod
// only when somebody asks.
const (
	startsEvery = time.Second
	askedWithin = 15 * time.Second

	StartWithin = 3 * time.Minute // is what most pods need at the most
)

// Starts waits until a revision that was given users has a pod, or nobody can tell whether one
// starts, which it says.
func (s Service) Starts(ctx context.Context, namespace, name string, patience time.Duration, say func(format string, args ...any)) error {
	err := Starts(ctx, func(ctx context.Context) (*servingv1.Revision, error) { return s.Revision(ctx, namespace, name) }, name, patience, say)
	if unseen, is := errors.AsType[*NoPodSeenError](err); is {
		say("%s", unseen)
		return nil
	}
	return err
}

// NoPodSeenError is that no pod of a revision has started, and none need have: nobody has asked
// for one, or there was no time to see it.
type NoPodSeenError struct {
	words string
	Asked bool // one was asked for
}

// Error says which.
func (e *NoPodSeenError) Error() string { return e.words }

// ErrUntold is that nobody can see whether a revision that had no pod has one now.
var ErrUntold = errors.New("nobody can see whether a pod starts")

// Starts waits until a revision that was given users, and that look shows, has a pod. The error is
// that a pod was asked for and that none has become ready within patience, or the time that most
// pods need; or that there is none of which anybody can tell so, a [NoPodSeenError]; or [ErrUntold], where
// it had none and cannot be seen since. Where nobody can look at all
// there is no error: a run that is ended waits three quarters of what it has left.
func Starts(ctx context.Context, look func(context.Context) (*servingv1.Revision, error), name string, patience time.Duration, say func(format string, args ...any)) error {
	patience = min(StartWithin, patience)
	limit := patience
	if end, limited := ctx.Deadline(); limited {
		limit = min(limit, time.Until(end)*3/4)
	}
	seen, asked := false, false
	for begun := time.Now(); ; {
		found, err := look(ctx)
		waited := time.Since(begun)
		switch {
		case err == nil && !WithoutPod(found):
			return nil
		case err == nil:
			seen = true
			asked, err = awaited(found, asked, waited, limit, patience, say)
			if err != nil {
				return err
			}
		case seen && waited >= limit:
			return fmt.Errorf("%w of revision %s, which had none: %w", ErrUntold, name, err)
		case !seen && (errors.Is(err, argo.ErrAuth) || errors.Is(err, errUnseen) || waited >= min(askedWithin, limit)):
			return nil
		}
		if sleep.For(ctx, startsEvery) != nil {
			return nil
		}
	}
}

// awaited is what a look at a revision without a pod says: whether one is asked for, by now or before, and why it is waited for no longer.
func awaited(r *servingv1.Revision, asked bool, waited, limit, patience time.Duration, say func(format string, args ...any)) (bool, error) {
	active := r.Status.GetCondition(servingv1.RevisionConditionActive)
	gaveUp := active.IsFalse() || r.Status.GetCondition(servingv1.RevisionConditionReady).IsFalse() && !argo.WaitsForPods(r)
	in := waited.Round(time.Second)
	switch {
	case !active.IsFalse() && !asked:
		say("users wait for a pod of revision %s, which had none: looking for up to %s whether one starts", r.Name, limit.Round(time.Second))
		return true, nil
	case asked && (gaveUp || waited >= patience):
		return true, fmt.Errorf("no pod of revision %s, which had none, has become ready in %s, although it is asked for: its users get errors or wait%s", r.Name, in, refused(r))
	case asked && waited >= limit:
		return true, &NoPodSeenError{fmt.Sprintf("no pod of revision %s has become ready in %s, and the run has no time left to see whether one does", r.Name, in), true}
	case !asked && waited >= min(askedWithin, limit):
		return false, &NoPodSeenError{fmt.Sprintf("no pod of revision %s runs, as nobody has asked for one in %s: the first request starts one", r.Name, in), false}
	}
	return asked, nil
}

// refused is why the cluster takes no pod of a revision, in brackets; empty: it is not known to refuse one.
func refused(r *servingv1.Revision) string {
	if !argo.WaitsForPods(r) {
		return ""
	}
	return " (" + argo.Why(r.Status.GetCondition(servingv1.RevisionConditionReady)) + ")"
}

// WithoutPod tells whether Knative says of a revision that it has no pod.
func WithoutPod(r *servingv1.Revision) bool {
	if r == nil {
		return false
	}
	active := r.Status.GetCondition(servingv1.RevisionConditionActive)
	return active != nil && !active.IsTrue() && (r.Status.ActualReplicas == nil || *r.Status.ActualReplicas == 0)
}

// Awaited is why users of a revision wait for a pod of which there is none, or get errors; empty: there is one, or nobody asks.
func Awaited(r *servingv1.Revision) string {
	if !WithoutPod(r) || r.Status.GetCondition(servingv1.RevisionConditionActive).IsFalse() {
		return ""
	}
	return fmt.Sprintf("no pod of revision %s, which had none, has become ready yet, although it is asked for%s", r.Name, refused(r))
}

// Unstarted tells whether a revision has no pod that anybody has seen: one is asked for, or it became
// Ready without any, as with an initial scale of zero. Where pods have made it Ready, Knative takes
// them away later, and no earlier than some seconds after that.
func Unstarted(r *servingv1.Revision) bool {
	if !WithoutPod(r) {
		return false
	}
	active, ready := r.Status.GetCondition(servingv1.RevisionConditionActive), r.Status.GetCondition(servingv1.RevisionConditionReady)
	return !active.IsFalse() || ready != nil && !active.LastTransitionTime.Inner.After(ready.LastTransitionTime.Inner.Time)
}
