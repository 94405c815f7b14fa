// Package pull is what of a target's commits comes by a pull request: what such a one is
// called, what an earlier run has proposed and this one goes on with, and what must be
// merged before anything else.
package pull

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/overlay"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/runs"
)

// Reviews bring a change into the infra repository's branch by a pull request.
type Reviews interface {
	Publish(context.Context, gitops.Change, review.Proposal) (gitops.Commit, error)
	// Proposed is the newest open pull request for the same target, and what it would bring.
	Proposed(context.Context, review.Proposal) (review.PullRequest, gitops.Snapshot, error)
	// HeldBy is a *review.NotMergedError where another one for the same target must be
	// merged first.
	HeldBy(context.Context, review.Proposal) error
	// OnBranch tells whether the branch that they are merged into has a commit.
	OnBranch(ctx context.Context, commit string) (bool, error)
}

// Requests are those of one target.
type Requests struct {
	Reviews Reviews // nil: there is no forge to ask
	Mode    review.Mode
	RunURL  string // of the workflow run; empty: there is none
	Overlay overlay.Reader
	Journal *journal.Journal
}

// Noted is what the name of a step ends with whose gates have passed.
const Noted = "-passed"

// Again is what the name of a step ends with that is made once more.
const Again = "-again"

// Proposal is the pull request for a commit of the target; nil where it is pushed.
// Promotion and step name the commit, and first is a promotion's first one.
func (r Requests) Proposal(promotion, step string, first bool) *review.Proposal {
	if r.Mode != review.Every && (r.Mode != review.First || !first) {
		return nil
	}
	return &review.Proposal{
		Target: branchOf(r.Overlay.Target), Promotion: promotion, Step: step, Begins: first, Seen: r.Journal.Pull,
		Stays: record.RollsBack(strings.TrimSuffix(step, Again)) || strings.HasSuffix(step, Noted),
		Over:  func(err error) bool { return errors.Is(err, plan.ErrSuperseded) },
		Never: ask.IsGate,
	}
}

// branchOf is what the branches of a target's pull requests are called. Folders may have
// names that a branch may not; they are told apart by a hash.
func branchOf(t plan.Target) string {
	whole := t.Service + "/" + t.Overlay
	name := regexp.MustCompile(`[^A-Za-z0-9_]+`).ReplaceAllString(whole, "-")
	return fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(whole)))
}

// IsUnmerged tells whether a commit is proposed, and not in the branch.
func IsUnmerged(err error) bool { return errors.Is(err, review.ErrNotWaited) || IsNotMerged(err) }

// IsNotMerged tells whether a pull request was not merged.
func IsNotMerged(err error) bool {
	_, not := errors.AsType[*review.NotMergedError](err)
	return not
}

// Adopt makes the plan that of an open pull request with the same first
// commit. An earlier run has opened it on an earlier tip, and people may have
// reviewed it since. What a newer run has proposed is not for this one to replace.
func (r Requests) Adopt(ctx context.Context, to *plan.Plan, at plan.Situation) error {
	if to.Steps[0].Done || to.Record.Promotion == to.ID {
		return nil
	}
	pull, has, err := r.proposed(ctx, r.Proposal(to.ID, "", true))
	switch {
	case err != nil:
		return err
	case runs.Newer(has.Run, r.RunURL):
		return fmt.Errorf("%w: this run is older than %s, which has proposed to move the service to %s by pull request #%d (%s): start a new run, or close that",
			plan.ErrSuperseded, has.Run, has.To.Revision, pull.Number, pull.URL)
	case has.Step == record.StepOf(to.Steps[0].Percent) && has.To.Revision == to.To && has.From.Revision == to.From:
		again := *to
		again.Base = has.Base
		return r.adopt(ctx, to, has, at, again.IDAfter(at.Record))
	}
	return nil
}

// NotHeld is why a commit of a promotion that is pushed must not be made: a pull request for
// the target is open that rolls back, or, where it begins, that notes that the promotion
// before has passed. One that is proposed is asked about by whoever proposes it. A forge
// that cannot be asked keeps no commit from being pushed, which needs none.
func (r Requests) NotHeld(ctx context.Context, promotion, step string, first bool) error {
	if r.Reviews == nil || r.Proposal(promotion, step, first) != nil {
		return nil
	}
	err := r.Reviews.HeldBy(ctx, review.Proposal{Target: branchOf(r.Overlay.Target), Promotion: promotion, Step: step, Begins: first})
	if err != nil && !IsNotMerged(err) && ctx.Err() == nil {
		r.unknown("whether a pull request that rolls back is open is not known: %v", err)
		return nil
	}
	return err
}

// unknown tells what the forge has not answered. Where every commit is pushed, the token
// need not be able to ask it, which is not said each time.
func (r Requests) unknown(format string, err error) {
	if _, away := errors.AsType[*review.AwayError](err); r.Mode == review.Push && !away && !errors.Is(err, review.ErrMany) {
		r.Journal.Debug(format, err)
		return
	}
	r.Journal.Warn(fmt.Sprintf(format, err))
}

// AdoptRollback does the same for a rollback that somebody has asked for before. A forge
// that does not answer keeps none from being tried: publishing it waits for the forge.
func (r Requests) AdoptRollback(ctx context.Context, back *plan.Reversal, at plan.Situation) error {
	pull, has, err := r.proposed(ctx, r.Proposal(back.Plan.ID, back.Step, false))
	if err == nil && has.Step == record.Rollback && back.Step == has.Step && has.To.Revision != back.Dest.Revision {
		r.Journal.Explain("pull request #%d (%s), which rolls back to %s, was open: this rollback leads to %s, and takes its place", pull.Number, pull.URL, has.To.Revision, back.Dest.Revision)
	}
	if err != nil || has.Step != back.Step || has.To.Revision != back.Dest.Revision || has.From.Revision != back.Plan.To {
		return ctx.Err()
	}
	return r.adopt(ctx, &back.Plan, has, at, plan.RollbackID(at.Target, has.Base, has.To.Revision))
}

// proposed is the newest open pull request for the target, and the record that it would bring;
// the zero Record where there is none that can be read.
func (r Requests) proposed(ctx context.Context, proposal *review.Proposal) (review.PullRequest, record.Record, error) {
	if proposal == nil || r.Reviews == nil {
		return review.PullRequest{}, record.Record{}, nil
	}
	pull, head, err := r.Reviews.Proposed(ctx, *proposal)
	if err != nil || pull.Number == 0 {
		return pull, record.Record{}, err
	}
	return pull, plan.RecordAt(head, r.Overlay.Target), nil
}

// adopt makes the plan that of a proposal's record, where that has the id which the plan would
// have there, and began on an overlay that is as it is now.
func (r Requests) adopt(ctx context.Context, to *plan.Plan, has record.Record, at plan.Situation, id string) error {
	if has.Promotion != id {
		return nil
	}
	same, err := r.sameAt(ctx, has.Base, at)
	if same {
		to.ID, to.Base = has.Promotion, has.Base
	}
	return err
}

// sameAt tells whether the overlay was at a commit of the branch what it is now, so that to
// restore the one is to restore the other. The commit's name comes from a branch that more
// people may push than that one. Where nobody can tell it is not: there are other names for branches.
func (r Requests) sameAt(ctx context.Context, commit string, at plan.Situation) (bool, error) {
	if on, err := r.Reviews.OnBranch(ctx, commit); err != nil || !on {
		return false, ctx.Err()
	}
	then, err := r.Overlay.At(ctx, commit)
	if err != nil {
		return false, ctx.Err() // nothing that can be restored
	}
	return bytes.Equal(then.Manifest, at.Now.Manifest) && bytes.Equal(then.Record(), at.Now.Record()), nil
}

// WouldWrite tells whether a record is the wanted one, but for who wrote it before and when. One
// that may be of a newer run is not, as no run after it would go on, not even to roll back; nor
// is one that says to have begun later, as what comes after it would count as older, nor one
// that has less of the past.
func WouldWrite(want, has record.Record) (bool, error) {
	if !runs.MayPrecede(has.Run, want.Run) || has.Started.After(want.Started) {
		return false, nil
	}
	own, err := want.Encode()
	if err != nil {
		return false, err
	}
	if want, err = record.Parse(own); err != nil || len(want.Past) != len(has.Past) {
		return false, err
	}
	text, err := want.WrittenAs(has).Encode()
	if err != nil {
		return false, err
	}
	there, err := has.Encode()
	return bytes.Equal(text, there), err
}
