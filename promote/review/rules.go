package review

import "fmt"

// Mode says how the commits come to the branch. The zero value is Push.
type Mode string

// The modes.
const (
	Push  Mode = "push"               // they are pushed
	First Mode = "first-pull-request" // a promotion's first one comes by a pull request, the others are pushed
	Every Mode = "pull-request"       // each comes by a pull request of its own
)

// Rules are what a forge wants of what comes to the branch, as far as it tells. The
// zero value is of a branch without rules.
type Rules struct {
	NoPush     []string // rules that take no push, each in words
	May        May      // whether the token may push past them
	Wants      []string // what of a pull request a person has to give, each in words
	Signatures bool     // commits must be signed
}

// Approvals are in words so many as a pull request needs; none, where it needs none.
func Approvals(count int) []string {
	switch count {
	case 0:
		return nil
	case 1:
		return []string{"1 approval"}
	}
	return []string{fmt.Sprintf("%d approvals", count)}
}

// May is whether somebody may do something; the zero value is that nobody tells.
type May string

// The answers.
const (
	Yes May = "yes"
	No  May = "no"
)
