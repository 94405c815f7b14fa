package source

import (
	"errors"
	"fmt"
	"time"
)

// A NotYetError is a promotion that did not begin because the environment that
// it takes its images from has not shown yet that they are good, or which nobody can tell of
// whether people have taken it out of Git.
type NotYetError struct {
	From   string         // the overlay; empty: it takes them from none
	Reason string         // what is missing
	Until  time.Time      // when that alone will be enough, unless something changes; zero: nobody knows
	Others []*NotYetError // of the other environments that it takes them from
}

// Error says what is missing, a line for each environment, and from when it will
// not be.
func (e *NotYetError) Error() string {
	text := fmt.Sprintf("from: %s is not to be promoted yet: %s", e.From, e.Reason)
	if e.From == "" {
		text = "nothing is to be promoted yet: " + e.Reason
	}
	for _, o := range e.Others {
		text += fmt.Sprintf("\nfrom: %s is not to be promoted yet: %s", o.From, o.Reason)
	}
	text += "; nothing was changed"
	if e.Until.IsZero() {
		return text
	}
	return fmt.Sprintf("%s: start the run again at %s", text, e.Until.UTC().Format(time.RFC3339))
}

// And is the error of both, until the later of their times; either can be nil.
func (e *NotYetError) And(other *NotYetError) *NotYetError {
	switch {
	case e == nil:
		return other
	case other == nil:
		return e
	}
	e.Others = append(e.Others, other)
	if e.Until.IsZero() || other.Until.IsZero() {
		e.Until = time.Time{}
	} else if other.Until.After(e.Until) {
		e.Until = other.Until
	}
	return e
}

// IsNotYet tells whether an error is that the images are not to be promoted yet.
func IsNotYet(err error) bool {
	_, is := errors.AsType[*NotYetError](err)
	return is
}
