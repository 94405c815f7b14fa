package review

import (
	"errors"
	"fmt"
)

// A PullRequest is one of the infra repository, as the forge shows it.
type PullRequest struct {
	Number int
	URL    string // of its page
	Branch string // of its head, in the repository itself
	Base   string // the branch that it is to be merged into
	Head   string // commit at its head
	State  State
	Merge  string // commit that it was merged as; empty: it is not merged
	Block  Block  // why it cannot be merged now; empty: nothing is known
	Clean  bool   // nothing is missing that the rules want
	Node   string // its name in GraphQL; empty on Gitea
}

// State is what has become of a pull request.
type State string

// The states of a pull request.
const (
	Open   State = "open"
	Merged State = "merged"
	Closed State = "closed" // and not merged
)

// Block is why a pull request cannot be merged now.
type Block string

// The reasons.
const (
	Conflict Block = "conflict" // the branch has other changes of the same lines
	Behind   Block = "behind"   // the rules want it to be on the branch's tip
	Blocked  Block = "blocked"  // a review or a status is missing
	Draft    Block = "draft"    // it is not ready for review
)

// NewPull is a pull request that is to be opened.
type NewPull struct{ Branch, Base, Title, Body string }

// Merging is how far a pull request has come on its way into the branch.
type Merging string

// The kinds of merging.
const (
	Done   Merging = "merged"
	Queued Merging = "in the merge queue"
	Asked  Merging = "the forge does not know yet whether it can be merged" // it is to be asked again
)

// ErrNotMergeable is a pull request that the forge does not merge as it is now: reviews or
// statuses may still come, or a person may have to do something.
var ErrNotMergeable = errors.New("not merged by the forge")

// An AwayError is of a forge that does not answer, or not well, and may later.
type AwayError struct{ Err error }

// Error is what the forge answered, or why it did not.
func (e *AwayError) Error() string { return e.Err.Error() }

// Unwrap is the cause.
func (e *AwayError) Unwrap() error { return e.Err }

func isAway(err error) bool {
	_, away := errors.AsType[*AwayError](err)
	return away
}

// OtherBase is the error of a pull request that is not merged, as its base is another branch than
// it was when it was looked at.
func (p PullRequest) OtherBase(base string) error {
	return fmt.Errorf("%w: %s", ErrNotMergeable, otherBase(base))
}

func otherBase(base string) string { return "somebody has changed its base to " + base }
