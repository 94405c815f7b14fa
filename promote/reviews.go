package promote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
	"github.com/acme/knative-promote/promote/setting"
)

// Reviews bring a change into the infra repository's branch by a pull request.
type Reviews interface {
	Publish(context.Context, gitops.Change, review.Proposal) (gitops.Commit, error)
	// Proposed is what an open pull request for the same target would bring.
	Proposed(context.Context, review.Proposal) (gitops.Snapshot, bool, error)
	// HeldBy is a *review.NotMergedError where another one for the same target must be
	// merged first.
	HeldBy(context.Context, review.Proposal) error
	// Unschedule keeps the forge from merging by itself the open steps of the same
	// target, and returns those.
	Unschedule(context.Context, review.Proposal) ([]review.PullRequest, error)
}

// noted is what the name of a step ends with whose gates have passed.
const noted = "-passed"

// again is what the name of a step ends with that is made once more.
const again = "-again"

// proposal is the pull request for a commit of the target; nil where it is pushed.
// Promotion and step name the commit, and first is a promotion's first one.
func (p *targetRun) proposal(promotion, step string, first bool) *review.Proposal {
	if p.config.Mode != review.Every && (p.config.Mode != review.First || !first) {
		return nil
	}
	return &review.Proposal{
		Target: branchOf(p.Target), Promotion: promotion, Step: step, Begins: first, Seen: p.journal.Pull,
		Stays: record.RollsBack(strings.TrimSuffix(step, again)) || strings.HasSuffix(step, noted),
	}
}

// branchOf is what the branches of a target's pull requests are called. A folder
// may have names that a branch may not; two of them are told apart by a hash.
func branchOf(t plan.Target) string {
	whole := t.Service + "/" + t.Overlay
	name := regexp.MustCompile(`[^A-Za-z0-9/_-]`).ReplaceAllString(whole, "-")
	if name == whole {
		return name
	}
	return fmt.Sprintf("%s-%.4x", name, sha256.Sum256([]byte(whole)))
}

// reviewTime is how much longer a rollback takes that people review.
func (c Config) reviewTime() time.Duration {
	if c.Mode != review.Every {
		return 0
	}
	return c.MergeTimeout
}

// isUnmerged tells whether a commit is proposed, and not in the branch.
func isUnmerged(err error) bool { return errors.Is(err, review.ErrNotWaited) || isNotMerged(err) }

func isNotMerged(err error) bool {
	_, not := errors.AsType[*review.NotMergedError](err)
	return not
}

// adoptProposed makes the plan that of an open pull request with the same first
// commit. An earlier run has opened it on an earlier tip, and people may have
// reviewed it since. What a newer run has proposed is not for this one to replace.
func (p *targetRun) adoptProposed(ctx context.Context, to *plan.Plan) error {
	if to.Steps[0].Done || to.Record.Promotion == to.ID {
		return nil
	}
	r, err := p.proposed(ctx, p.proposal(to.ID, "", true))
	switch {
	case err != nil:
		return err
	case newerRun(r.Run, p.config.RunURL):
		return fmt.Errorf("%w: this run is older than %s, which has proposed to move the service to %s: start a new run instead", plan.ErrSuperseded, r.Run, r.To.Revision)
	case r.Step == record.StepOf(to.Steps[0].Percent) && r.To.Revision == to.To && r.From.Revision == to.From:
		return p.adopt(ctx, to, r)
	}
	return nil
}

// notHeld is why a commit of a promotion that is pushed must not be made: a pull request for
// the target is open that rolls back, or, where it begins, that notes that the promotion
// before has passed. One that is proposed is asked about by whoever proposes it. A forge
// that cannot be asked keeps no commit from being pushed, which needs none.
func (p *targetRun) notHeld(ctx context.Context, step string, first bool) error {
	if p.systems.Reviews == nil || p.proposal(p.plan.ID, step, first) != nil {
		return nil
	}
	err := p.systems.Reviews.HeldBy(ctx, review.Proposal{Target: branchOf(p.Target), Promotion: p.plan.ID, Step: step, Begins: first})
	if err != nil && !isNotMerged(err) && ctx.Err() == nil {
		p.journal.Say("whether a pull request that rolls back is open is not known: %v", err)
		return nil
	}
	return err
}

// unschedule keeps what a killed run has proposed from being merged while nobody
// waits for it. A step of this run that is proposed already is scheduled again.
func (p *targetRun) unschedule(ctx context.Context) {
	if p.systems.Reviews == nil {
		return
	}
	asked, stop := context.WithTimeout(ctx, facts.PreflightTime)
	defer stop()
	left, err := p.systems.Reviews.Unschedule(asked, review.Proposal{Target: branchOf(p.Target)})
	for _, pull := range left {
		p.journal.Say("pull request #%d (%s): from an earlier run, and not merged by the forge itself any more unless a run waits for it", pull.Number, pull.URL)
	}
	if err != nil {
		p.journal.Warn(fmt.Sprintf("what an earlier run has proposed may still be merged by the forge itself: %v", err))
	}
}

// adoptRollback does the same for a rollback that somebody has asked for before. A forge
// that does not answer keeps none from being tried: publishing it waits for the forge.
func (p *targetRun) adoptRollback(ctx context.Context, back *reversal) error {
	r, err := p.proposed(ctx, p.proposal(back.Plan.ID, back.Step, false))
	if err == nil && r.Step == record.Rollback && back.Step == r.Step && r.To.Revision != back.Dest.Revision && p.config.To == "" {
		return setting.Bad("to: a pull request that rolls back to %s is open, and this rollback leads to %s now: merge or close that one, or name where to roll back to", r.To.Revision, back.Dest.Revision)
	}
	if err != nil || r.Step != back.Step || r.To.Revision != back.Dest.Revision || r.From.Revision != back.Plan.To {
		return ctx.Err()
	}
	return p.adopt(ctx, &back.Plan, r)
}

// proposed is the record that the newest open pull request for the target would bring; the
// zero Record where there is none that can be read.
func (p *targetRun) proposed(ctx context.Context, proposal *review.Proposal) (record.Record, error) {
	if proposal == nil || p.systems.Reviews == nil {
		return record.Record{}, nil
	}
	head, found, err := p.systems.Reviews.Proposed(ctx, *proposal)
	if err != nil || !found {
		return record.Record{}, err
	}
	return recordAt(head, p.Target), nil
}

// adopt makes the plan that of a proposal's record, where that began on an overlay that is
// as it is now.
func (p *targetRun) adopt(ctx context.Context, plan *plan.Plan, r record.Record) error {
	same, err := p.sameAt(ctx, r.Base)
	if same {
		plan.ID, plan.Base = r.Promotion, r.Base
	}
	return err
}

// sameAt tells whether the overlay was at a commit what it is now, so that to
// restore the one is to restore the other. The commit's name comes from a branch
// that more people may push than the infra repository's.
func (p *targetRun) sameAt(ctx context.Context, commit string) (bool, error) {
	then, err := p.infra.At(ctx, commit)
	if err != nil {
		return false, ctx.Err() // nothing that can be restored
	}
	return bytes.Equal(then.Manifest, p.at.Now.Manifest) && bytes.Equal(then.Record(), p.at.Now.Record()), nil
}

// adopts tells whether a proposal's head has the record that the step would write on
// the tip, but for who wrote it and when.
func (m *move) adopts(tip, head gitops.Snapshot) (bool, error) {
	return wouldWrite(plan.StepRecord(m.target.config.Settings, m.target.plan, record.StepOf(m.step().Percent), recordAt(tip, m.target.Target)), recordAt(head, m.target.Target))
}

// adopts tells the same of a proposal that rolls back.
func (b *reversal) adopts(ctx context.Context, tip, head gitops.Snapshot) (bool, error) {
	if b.leavesOut {
		return false, nil // its record does not tell it from the commit before
	}
	after, err := b.edited(ctx, tip)
	if err != nil {
		return false, err
	}
	want, err := record.Parse(after.State.Record())
	if err != nil {
		return false, err
	}
	return wouldWrite(want, recordAt(head, b.target.Target))
}

// wouldWrite tells whether a record is the wanted one, but for who wrote it and when.
func wouldWrite(want, has record.Record) (bool, error) {
	text, err := want.WrittenAs(has).Encode()
	if err != nil {
		return false, err
	}
	there, err := has.Encode()
	return bytes.Equal(text, there), err
}
