package argo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/serving/pkg/apis/serving"

	"github.com/acme/knative-promote/internal/oneline"
)

// commandPause is how long to wait before a command that was refused is sent again.
const commandPause = 15 * time.Second

// Await waits until the intent is live and returns what it saw last. It asks Argo CD
// to compare with Git at once, polls, and lets the Application's events wake it early;
// the events are only a hint, what was read decides. It polls seldom while nothing happens
// and an event would tell of what it waits for.
//
// It helps where Argo CD would stand still: it syncs where auto-sync is off, and where
// auto-sync has done nothing for ten seconds and no sync window is closed, or the intent is
// to be synced by hand and the windows permit that; it terminates
// an automated sync of an older commit that only retries what an admission webhook, a
// policy or its schema refused, and any sync of a commit that the intent rolls back. Of what
// restores it syncs the Service alone where a sync of all fails or hangs before it comes to that. Else
// it never touches what a person started. Where the token may not do this, the reason says so and
// the wait goes on.
//
// Report, unless nil, is called after every observation, also when nothing changed.
//
// The error is nil when live, a [*FailedError], ErrSuperseded, ErrAuth (a token may
// expire while waiting; a denial must last for [Grace]), or ctx's error with the last reason.
func (c *Client) Await(ctx context.Context, in Intent, report func(Verdict)) (Observed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in.Carries, in.Own, in.RollsBack, in.Gives = once(in.Carries), once(in.Own), once(in.RollsBack), once(in.Gives)
	w := &waiter{argo: c, in: in, report: report, events: c.watch(ctx, in.App)}
	return w.run(ctx)
}

// A controlPlane is what waiting needs of Argo CD.
type controlPlane interface {
	observe(ctx context.Context, in Intent, refresh v1alpha1.RefreshType, known *Observed) (Observed, error)
	send(ctx context.Context, app *v1alpha1.Application, cmd command, service string) error
}

// A waiter is one wait: what it is for, and what it remembers.
type waiter struct {
	argo   controlPlane
	in     Intent
	report func(Verdict)
	events *events

	uid       types.UID    // of the Application, once seen
	ended     *metav1.Time // when the operation began that had ended by then
	last      Verdict
	lastSince time.Time // when last.Trouble began
	refreshed time.Time
	stale     bool   // the last observation calls for a refresh
	outdated  string // the revision that Argo CD may have rendered an older commit for
	rendered  string // the one that it was asked to render anew
	displaced string // the revision that seemed to supersede us, to be seen twice
	polling   polling

	unchanged      string // what the Application was when it last changed
	unchangedSince time.Time
	hangs          time.Duration   // after which an operation that has not moved hangs
	sent           map[string]bool // commands that Argo CD took
	notBefore      time.Time       // the next command
	note           string
	heldUp         string // by what, as said before it was terminated
	alone, barred  string // see Observed
}

func (w *waiter) run(ctx context.Context) (Observed, error) {
	var ob Observed
	w.hangs = hangsWithin(ctx)
	for {
		before, note := w.last.Reason, w.note
		seen, err := w.observe(ctx)
		if seen.App != nil {
			ob = seen
		}
		if err != nil {
			return ob, w.outOfTime(ctx, err)
		}
		if w.report != nil {
			w.report(w.last)
		}
		if w.last.State != Wait {
			return ob, outcome(w.last)
		}
		if err := w.unblock(ctx, seen); err != nil {
			return ob, w.outOfTime(ctx, err)
		}
		if !w.pause(ctx, w.last.Reason != before || w.note != note) {
			return ob, w.outOfTime(ctx, ctx.Err())
		}
	}
}

// outcome is the error for a final verdict.
func outcome(v Verdict) error {
	switch v.State {
	case Live:
		return nil
	case Superseded:
		return fmt.Errorf("%w: %s", ErrSuperseded, v.Reason)
	}
	return &FailedError{Reason: v.Reason, Unapplied: v.Unapplied}
}

// outOfTime adds what was waited for to ctx's error.
func (w *waiter) outOfTime(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	reason := w.last.Reason
	if reason == "" {
		reason = "nothing was seen yet"
	}
	return fmt.Errorf("waiting for %s to be live in application %s: %w: %s", short(w.in.Commit), w.in.App, context.Cause(ctx), reason)
}

// observe observes and judges once. It returns only errors that end the wait.
func (w *waiter) observe(ctx context.Context) (Observed, error) {
	refresh := w.refresh()
	known := w.polling.known()
	ob, err := w.argo.observe(ctx, w.in, refresh, known)
	if ob.App != nil {
		ob.Earlier, ob.Barred, ob.Alone = w.endedBefore(ob.App), w.barred, w.alone
		w.stale = !ob.Relation.ours() || reconciledEarly(ob.App)
	}
	if known != nil && refresh == noRefresh && ob.App != nil && ob.App != known.App {
		w.events.distrust()
	}
	switch {
	case errors.Is(err, errDenied) && w.maySoonBeAllowed() && ctx.Err() == nil:
		w.remember(Verdict{State: Wait, Reason: err.Error(), Trouble: "denied"})
		return ob, nil
	case errors.Is(err, ErrAuth), ctx.Err() != nil:
		return ob, err
	case errors.Is(err, ErrNotFound):
		return ob, &FailedError{Reason: oneline.Brief(err.Error())}
	case err != nil:
		w.remember(Verdict{State: Wait, Reason: err.Error()})
		w.polling.saw(ob, false)
		return ob, nil
	}
	verdict := Judge(w.in, ob, w.memory(ob.App))
	if verdict.State == Superseded && !w.confirmed(cmp.Or(compared(w.in, ob), "the tip"), refresh != noRefresh) {
		verdict.State = Wait
	}
	w.remember(verdict)
	w.outdated = outdated(w.in, ob, verdict)
	w.polling.saw(ob, announced(w.in, ob, verdict))
	return ob, nil
}

// maySoonBeAllowed tells whether a denial may be one of Argo CD's troubles: it has shown
// the Application before, and has not denied it for long.
func (w *waiter) maySoonBeAllowed() bool {
	return w.uid != "" && (w.last.Trouble != "denied" || time.Since(w.lastSince) < Grace)
}

// endedBefore tells whether the last operation had ended when the wait first saw the
// Application.
func (w *waiter) endedBefore(app *v1alpha1.Application) bool {
	state := app.Status.OperationState
	if state == nil || !state.Phase.Completed() {
		return false
	}
	if w.uid == "" {
		w.ended = &state.StartedAt
	}
	return w.ended.Equal(&state.StartedAt)
}

// memory is what the wait knows from before it saw the Application as it is now.
func (w *waiter) memory(app *v1alpha1.Application) Memory {
	if w.uid == "" {
		w.uid = app.UID
	}
	known := Memory{UID: w.uid, Trouble: w.last.Trouble, Note: w.note}
	if w.last.Trouble != "" {
		known.TroubleFor = time.Since(w.lastSince)
	}
	return known
}

func (w *waiter) remember(v Verdict) {
	if v.Trouble != w.last.Trouble {
		w.lastSince = time.Now()
	}
	w.last = v
}

// confirmed wants a revision that displaces us to be seen after a second refresh: the
// first may have answered somebody else's, begun before our push.
func (w *waiter) confirmed(revision string, refreshed bool) bool {
	if !refreshed {
		return false
	}
	again := w.displaced == revision
	w.displaced = revision
	return again
}

// unblock sends the command that the observation asks for, each once for one revision; to
// terminate, once for every attempt: an attempt that is under way when it is terminated
// fails, and Argo CD writes its next retry over the termination
// (https://github.com/argoproj/argo-cd/blob/v2.14.21/controller/appcontroller.go#L1452-L1481).
func (w *waiter) unblock(ctx context.Context, ob Observed) error {
	if ob.App == nil {
		return nil
	}
	w.measure(ob)
	cmd := nextCommand(w.in, ob, time.Since(w.unchangedSince), w.hangs)
	key := string(cmd) + " " + compared(w.in, ob) + " " + syncRevision(w.in, ob.App)
	switch {
	case cmd == terminate:
		key = fmt.Sprint(key, " ", ob.App.Status.OperationState.RetryCount)
	case heldUp(w.in, ob):
		key = fmt.Sprint(key, " ", ob.App.Status.OperationState.StartedAt) // Argo CD may have tried all of it again
	}
	if cmd == nothing || w.sent[key] || time.Now().Before(w.notBefore) {
		return nil
	}
	err := w.argo.send(ctx, ob.App, cmd, w.in.Service)
	if ctx.Err() != nil {
		return err
	}
	if err != nil {
		w.notBefore = time.Now().Add(commandPause)
		w.note = err.Error()
		if heldUp(w.in, ob) && (errors.Is(err, ErrAuth) || errors.Is(err, errWindow)) {
			w.barred = fmt.Sprintf("%v; for whoever may sync: argocd app sync %s --resource %s:Service:%s", err, w.in.App, serving.GroupName, w.in.Service)
			w.note = w.barred
		}
		return nil
	}
	if w.sent == nil {
		w.sent = map[string]bool{}
	}
	w.sent[key], w.note = true, ""
	switch {
	case heldUp(w.in, ob) && cmd == terminate:
		w.heldUp = oneline.Brief(ob.App.Status.OperationState.Message)
	case heldUp(w.in, ob):
		w.alone = cmp.Or(w.heldUp, oneline.Brief(ob.App.Status.OperationState.Message), "it has failed")
	case cmd == syncOurs:
		w.note = fmt.Sprintf("somebody has rolled %s back in Argo CD, so this run has synced the Service alone", ob.Moved.names())
	case cmd == syncHand:
		w.note = "auto-sync did not, as in a closed sync window, so this run has synced it by hand"
	}
	return nil
}

// measure notes for how long nothing has moved: while an operation runs, whatever others push meanwhile, nothing
// of that.
func (w *waiter) measure(ob Observed) {
	now := fmt.Sprint(compared(w.in, ob), ob.App.Status.Sync.Status, ob.App.Operation != nil, syncRevision(w.in, ob.App))
	if state := ob.App.Status.OperationState; state != nil && !state.Phase.Completed() {
		now = fmt.Sprint(state.StartedAt, state.RetryCount, state.Message)
	}
	if now != w.unchanged {
		w.unchanged, w.unchangedSince = now, time.Now()
	}
}
