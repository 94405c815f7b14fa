package argo

import (
	"context"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
)

const (
	firstPause = 250 * time.Millisecond // between two observations, growing to
	lastPause  = 2 * time.Second
	quietPause = 10 * time.Second       // while nothing happens and an event would tell
	quietLimit = 30 * time.Second       // between two looks at the live objects meanwhile
	wakePause  = 100 * time.Millisecond // at least, also when events come in a burst
	eventPause = time.Second            // after an event that changed nothing yet
)

// Polling is how often a wait looks: often after every change, and seldom while nothing
// happens and an event would tell.
type polling struct {
	pause time.Duration // the last one
	woken bool          // an event ended it
	// seen is what was observed last, and since when it is known.
	seen   Observed
	seenAt time.Time
	quiet  bool // an event would tell of the next change
}

// known is what need not be read anew while the Application stands still.
func (r *polling) known() *Observed {
	if r.pause < quietPause || r.woken || !r.quiet || time.Since(r.seenAt) >= quietLimit {
		return nil
	}
	return &r.seen
}

// saw takes in an observation, which may be what was known.
func (r *polling) saw(ob Observed, quiet bool) {
	if ob.App != r.seen.App {
		r.seenAt = time.Now()
	}
	r.seen, r.quiet = ob, quiet
}

// next is how long to pause now. Argo CD may tell of a change shortly before the live
// objects show it, so an event brings short pauses back for a few looks.
func (r *polling) next(changed, open bool) time.Duration {
	switch {
	case changed || r.pause == 0:
		r.pause = firstPause
	case r.woken:
		r.pause = min(r.pause, eventPause)
	case r.pause*5/4 < lastPause:
		r.pause = r.pause * 5 / 4
	case r.quiet && open:
		r.pause = quietPause
	default:
		r.pause = lastPause
	}
	return r.pause
}

// pause waits for the next look or an event, and reports whether ctx still lives.
func (w *waiter) pause(ctx context.Context, changed bool) bool {
	timer := time.NewTimer(w.until(w.polling.next(changed, w.events.open())))
	defer timer.Stop()
	if w.polling.woken = false; sleep.For(ctx, wakePause) != nil {
		return false
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return true
		case <-w.events.wake:
			if w.polling.seen.App == nil || w.events.since(w.polling.seen.App.ResourceVersion) {
				w.polling.woken = w.events.open() // else the stream has ended, and nothing happened
				return true
			}
		}
	}
}

// until shortens a pause to the moment at which a command may be due.
func (w *waiter) until(pause time.Duration) time.Duration {
	for _, due := range []time.Time{w.notBefore, w.unchangedSince.Add(stuckAfter)} {
		if left := time.Until(due); left > 0 {
			pause = min(pause, max(left, firstPause))
		}
	}
	return pause
}
