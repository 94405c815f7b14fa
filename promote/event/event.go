package event

import (
	"fmt"
	"slices"
	"time"
)

// An Event is one thing that has happened in a run for one of its targets. All that a
// Result says is what its events have made of it.
type Event interface {
	// Lines are what the log says of it; none: nothing.
	Lines() []string
	// apply makes it part of a Result. Now is when it has happened.
	apply(r *Result, now time.Time)
}

// Add makes an event part of the Result, which has happened now.
func (r *Result) Add(e Event, now time.Time) { e.apply(r, now) }

// Clone is the Result as it is, whatever happens later.
func (r Result) Clone() Result {
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		r.Steps[i].Gates = slices.Clone(r.Steps[i].Gates)
	}
	return r
}

// silent is what the log says nothing of.
type silent struct{}

// Lines are none.
func (silent) Lines() []string { return nil }

// line is one line of the log.
func line(format string, args ...any) []string { return []string{fmt.Sprintf(format, args...)} }
