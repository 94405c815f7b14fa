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
	if err != nil {
		return err
	}
	return p.heldBy(open)
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
// Of two that begin at the same time the later one stays, and closes the other. One that cannot
// be closed keeps nothing from being rolled back.
func (r Reviews) supersede(ctx context.Context, pull PullRequest, p Proposal) error {
	open, err := r.openFor(ctx, p)
	if err != nil {
		return err
	}
	if held := p.heldBy(open); held != nil {
		return errors.Join(held, r.Forge.ClosePull(ctx, pull.Number, held.Error()+"."))
	}
	for _, other := range open {
		later := other.Number >= pull.Number && rollsBack.MatchString(other.Branch) == rollsBack.MatchString(pull.Branch)
		if later || !p.over(other) {
			continue
		}
		said := fmt.Sprintf("closed, superseded by #%d", pull.Number)
		if err := r.Forge.ClosePull(ctx, other.Number, fmt.Sprintf("Superseded by #%d.", pull.Number)); err != nil {
			if !p.Stays || isAway(err) {
				return err
			}
			said = "left open: " + err.Error()
		}
		p.Seen(other, said)
	}
	return nil
}

// openFor are the open pull requests for the target.
func (r Reviews) openFor(ctx context.Context, p Proposal) ([]PullRequest, error) {
	return r.Forge.OpenPulls(ctx, r.Branch, p.prefix())
}

// mostRead bounds how many open pull requests are looked into: anybody may open them.
const mostRead = 3

// newestOf are the newest of some pull requests.
func newestOf(open []PullRequest) []PullRequest {
	all := slices.SortedFunc(slices.Values(open), func(a, b PullRequest) int { return cmp.Compare(b.Number, a.Number) })
	return all[:min(len(all), mostRead)]
}

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
