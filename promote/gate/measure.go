package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/slo"
)

const (
	// sloInterval is how often the counts are judged.
	sloInterval = time.Second
	// period is after how long a new one begins, so that what begins late in a
	// long bake is found as soon as what begins early.
	period = time.Minute
)

// counts are the requests of one step so far.
type counts struct {
	candidate slo.Counts
	old       *slo.Counts // nil: it is not counted
	shared    bool        // some of the old revision's reached the candidate
	note      string      // what a person should know of them
	seconds   []second    // that are known and over; nil: none is known
	open      time.Time   // when the oldest request was sent that has not ended; zero: all have
}

// A second is one of a step.
type second struct {
	at time.Time // when it began
	slo.Second
}

// since is what has come after earlier counts of the same step.
func (c counts) since(earlier counts) counts {
	c.candidate = c.candidate.Since(earlier.candidate)
	if c.old != nil && earlier.old != nil {
		old := c.old.Since(*earlier.old)
		c.old = &old
	}
	return c
}

// answeredUntil tells whether all that was sent before a time has ended. What
// hangs is counted when it ends, and would be missing otherwise.
func (c counts) answeredUntil(t time.Time) bool { return c.open.IsZero() || !c.open.Before(t) }

// A measurement judges what is counted in one step.
type measurement struct {
	objective slo.Objective
	count     func(context.Context) (counts, error) // since late before the step began
	bake      time.Duration
	wait      time.Duration // how much longer it may take for requests enough
	seen      []slo.Period  // in the steps before, and then in this one too
	say       func(format string, args ...any)
	every     time.Duration // how often the counts are judged; 0: sloInterval
	// late is how much later than another request one may be counted. 0: the
	// counts are of one moment.
	late time.Duration
}

// stale is that nobody knows what has come since the counts beside it, which stand: what has failed has failed.
type stale struct{ error }

// sample counts what has come by now. Counts that cannot be are none, and no part
// of the evidence.
func (m *measurement) sample(ctx context.Context, l *samples) (counts, error) {
	at := time.Now()
	now, err := m.count(ctx)
	if _, counted := errors.AsType[stale](err); err != nil && !counted {
		return now, err
	}
	of := now.since(l.base().counts)
	if !of.candidate.Possible() || of.old != nil && !of.old.Possible() {
		return now, errors.New("the requests that are counted have become fewer, or more of them bad than there are")
	}
	l.known, now.seconds = now.seconds, nil
	l.all = append(l.all, sample{at, now})
	return now, err
}

// judge looks again and again, until the verdict is clear or the time is over.
func (m *measurement) judge(ctx context.Context, step string) (string, error) {
	began, before := time.Now(), m.seen
	said := began
	var looked, kept time.Time // the last look that counted, and since when the objective is kept
	l := beginSamples(step, m.late)
	if m.late > 0 { // what came before the step; if it cannot be told, it counts as the step's
		_, _ = m.sample(ctx, l)
	}
	for {
		if err := sleep.For(ctx, max(m.every, sloInterval)); err != nil {
			return "", cutOff(fmt.Errorf("%w: %s", err, m.objective.Judge(m.seen, false).Reason))
		}
		now, err := m.sample(ctx, l)
		if err == nil {
			looked = time.Now()
		}
		_, unseen := errors.AsType[stale](err)
		m.seen = slices.Concat(before, l.periods())
		verdict := m.objective.Judge(m.seen, time.Since(began) >= m.bake)
		switch {
		case verdict.State != slo.Kept || err != nil:
			kept = time.Time{}
		case kept.IsZero():
			kept = time.Now()
		}
		switch late := time.Since(began) >= m.bake+m.wait; {
		case verdict.State == slo.Broken:
			return "", fmt.Errorf("%s%s", verdict.Reason, now.note)
		case !kept.IsZero() && now.answeredUntil(kept):
			return verdict.Reason, nil
		case late && kept.IsZero() && unseen:
			return "", Inconclusive{fmt.Errorf("after %s: %s, but %w", m.bake+m.wait, verdict.Reason, err)}
		case late && kept.IsZero() && err != nil && time.Since(looked) >= bakeGrace:
			return "", fmt.Errorf("could not be measured: %w", err)
		case late && kept.IsZero():
			return "", Inconclusive{fmt.Errorf("after %s: %s%s", m.bake+m.wait, verdict.Reason, now.note)}
		}
		if time.Since(said) >= heartbeat {
			said = time.Now()
			m.say("slo: %s%s", verdict.Reason, now.note)
		}
		l.open()
	}
}
