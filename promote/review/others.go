package review

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops"
)

// HeldBy is a [*NotMergedError] where another pull request for the target is open that must
// be merged first: one that rolls back, or, before a promotion begins, one that notes that
// the one before has passed. Nil: there is none.
func (r Reviews) HeldBy(ctx context.Context, p Proposal) error {
	open, err := r.openFor(ctx, p)
	if held := p.heldBy(open); held != nil {
		return held
	}
	return err
}

func (p Proposal) heldBy(open []PullRequest) error {
	for _, other := range open {
		switch {
		case p.Stays && !notes.MatchString(p.branch()):
		case rollsBack.MatchString(other.Branch):
			return &NotMergedError{Pull: other, Reason: "it rolls back, and nothing is promoted before it is merged or closed", RollsBack: true}
		case p.Begins && notes.MatchString(other.Branch) && !p.own(other):
			return &NotMergedError{Pull: other, Reason: "it notes that the gates of the promotion before have passed, and without that nothing rolls back to it: merge it, or close it, before the next promotion begins"}
		}
	}
	return nil
}

// supersede closes the open pull requests for the target that this one takes the place
// of: nobody may merge an earlier step over a later one. It closes this one where one
// that rolls back was opened meanwhile: whichever of the two looks last sees the other.
// Of two that begin at the same time the later one stays, and closes the other.
//
// What Stays waits for no other to be closed, as anybody may open hundreds. The newest alone
// are closed first, which Git may still merge; the rest is returned. None of them makes a
// rollback wrong: on what is merged before it it is proposed anew, and what is open when it is
// merged is in conflict with it, as both write the record.
func (r Reviews) supersede(ctx context.Context, pull PullRequest, p Proposal) (rest []PullRequest, err error) {
	open, err := r.openFor(ctx, p)
	if err != nil {
		return nil, err
	}
	if held := p.heldBy(open); held != nil {
		return nil, errors.Join(held, r.Forge.ClosePull(ctx, pull.Number, held.Error()+"."))
	}
	over := newestFirst(slices.DeleteFunc(open, func(other PullRequest) bool {
		later := other.Number >= pull.Number && rollsBack.MatchString(other.Branch) == rollsBack.MatchString(pull.Branch)
		return later || !p.over(other)
	}))
	first := len(over)
	if p.Stays {
		first = min(first, mostRead)
	}
	return over[first:], closeFor(ctx, r.Forge, pull, p, over[:first])
}

// closeFor closes others for a pull request. One that cannot be closed keeps nothing from being
// rolled back; while the forge is away, or wants fewer requests, no more are tried for that.
func closeFor(ctx context.Context, forge Forge, pull PullRequest, p Proposal, others []PullRequest) error {
	for i, other := range others {
		err := forge.ClosePull(ctx, other.Number, fmt.Sprintf("Superseded by #%d.", pull.Number))
		switch {
		case err == nil:
			p.Seen(other, fmt.Sprintf("closed, superseded by #%d", pull.Number))
		case !p.Stays:
			return err
		default:
			p.Seen(other, "left open: "+err.Error())
			if isAway(err) || ctx.Err() != nil {
				leftOpen(p, len(others)-i-1)
				return nil
			}
		}
	}
	return nil
}

// closeRest closes others when that decides nothing any more, and not more than take a moment.
func closeRest(ctx context.Context, forge Forge, pull PullRequest, p Proposal, rest []PullRequest) {
	most := min(len(rest), mostClosed)
	leftOpen(p, len(rest)-most)
	if err := closeFor(ctx, forge, pull, p, rest[:most]); err != nil {
		p.Seen(pull, err.Error())
	}
}

func leftOpen(p Proposal, more int) {
	if more > 0 {
		p.Seen(PullRequest{}, fmt.Sprintf("%d more pull requests for the target are left open: close them by hand", more))
	}
}

// ErrMany says that more pull requests are open than are read, as anybody may open some: one that rolls back may be among the
// others.
var ErrMany = errors.New("not all open pull requests were read")

// openFor are the open pull requests for the target. That there are too many keeps nothing that is proposed, such as a rollback.
func (r Reviews) openFor(ctx context.Context, p Proposal) ([]PullRequest, error) {
	open, err := r.Forge.OpenPulls(ctx, r.Branch, p.prefix())
	if errors.Is(err, ErrMany) && p.Seen != nil {
		p.Seen(PullRequest{}, err.Error())
		err = nil
	}
	return open, err
}

// Anybody may open pull requests.
const (
	mostRead   = 3  // of how many more is found out than the list says, before something is merged
	mostClosed = 10 // and how many are closed after it: a forge takes some 80 requests a minute, three for each
)

func newestFirst(open []PullRequest) []PullRequest {
	return slices.SortedFunc(slices.Values(open), func(a, b PullRequest) int { return cmp.Compare(b.Number, a.Number) })
}

// newestOf are the newest of some pull requests.
func newestOf(open []PullRequest) []PullRequest { return newestFirst(open)[:min(len(open), mostRead)] }

// Proposed is the newest open pull request for the target, and what it would bring; the
// zero PullRequest: there is none whose head can be read, which anybody may have made.
func (r Reviews) Proposed(ctx context.Context, p Proposal) (PullRequest, gitops.Snapshot, error) {
	open, err := r.openFor(ctx, p)
	if err != nil || len(open) == 0 {
		return PullRequest{}, gitops.Snapshot{}, err
	}
	for _, newest := range newestOf(open) {
		if head, err := r.Repo.At(ctx, newest.Head); err == nil {
			return newest, head, nil
		}
	}
	return PullRequest{}, gitops.Snapshot{}, ctx.Err()
}
