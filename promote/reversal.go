package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/record"
)

// A reversal is one target's part of a commit that rolls back.
type reversal struct {
	target *targetRun
	plan.Reversal
	split     knative.Split // at the tip
	done      bool          // a commit before has done it, it is only confirmed
	wasLive   bool          // before that: nothing was left to do
	leavesOut bool          // only what Knative cannot route to is taken out of what a commit before has done
	over      []string      // revisions that users may be moved from; none: whatever they have
	apart     bool          // where it cannot be, the others are rolled back without it

	failed    error           // why it was not seen live
	after     plan.Edited     // what the commit has made of the overlay
	log       journal.StepLog // from when it is committed
	promotion string          // id of the promotion in the record that it leads to
	ask       *gate.Ask       // whether it is live
}

// reverse commits the destinations and says what must become true. Patience is how long
// it waits for a tip that does not render.
func (r *run) reverse(ctx context.Context, reversals []*reversal, patience time.Duration) error {
	var edits []commit.Edit
	for _, b := range reversals {
		if e := b.begin(ctx); !b.done {
			edits = append(edits, e)
		}
	}
	p, err := r.commitRendered(ctx, edits, patience)
	drafts := p.drafts
	for _, b := range reversals {
		if err == nil && !b.done {
			b.after, b.target.lost = drafts[0].Reversed, drafts[0].Left
			drafts = drafts[1:]
		}
		if err != nil || b.target.lost != nil {
			b.log.Unseen()
			continue
		}
		if b.done {
			b.log.Committed(b.target.at.Tip.Hash, true)
			continue
		}
		b.log.Committed(p.commit, !p.made)
		b.target.journal.Warn(b.after.Warning(b.Dest))
	}
	for _, b := range reversals {
		if err == nil && b.target.lost == nil {
			err = b.expect(ctx)
		}
	}
	return err
}

// routable is the reversal as Knative can route it now: no target at 0 %, ours or
// somebody's, may keep the commit from doing anything.
func (b *reversal) routable(ctx context.Context) plan.Reversal {
	back := b.Reversal
	back.Dest.Traffic = b.target.onlyRoutable(ctx, b.Live, b.Dest.Traffic, b.Dest.Revision)
	return back
}

// begin opens the step in the journal and says what it changes.
func (b *reversal) begin(ctx context.Context) commit.Edit {
	b.Plan.Image = plan.FirstImage(b.Dest.Images)
	title := "back to " + plan.Short(b.target.Service, b.Dest.Revision)
	if !b.done {
		title = plan.Subject(b.target.Target, title+" ("+plan.ImageVersion(b.Plan.Image)+")")
	}
	b.log = b.target.journal.BeginReversal(b.Step, title)
	return commit.Edit{
		Proposal: b.target.pulls().Proposal(b.Plan.ID, b.stepName(), false),
		Adopts:   func(tip, head gitops.Snapshot) (bool, error) { return b.adopts(ctx, tip, head) },
		Subject:  title,
		Trailers: plan.Trailers(b.target.config.Settings, b.Plan, b.stepName(), b.Plan.To, b.Dest.Revision, b.Reason),
		Draft: func(tip gitops.Snapshot) (commit.Draft, error) {
			after, err := b.edited(ctx, tip)
			if b.apart && err != nil && ctx.Err() == nil {
				return commit.Draft{Left: b.target.named(err)}, nil
			}
			if err != nil {
				return commit.Draft{}, err
			}
			files, err := after.State.Files()
			return commit.Draft{Files: files, Reversed: after}, err
		},
	}
}

// stepName is what the reversal's commit and its pull request call the step.
func (b *reversal) stepName() string {
	if b.leavesOut {
		return b.Step + pull.Again
	}
	return b.Step
}

// edited is what the reversal makes of a tip, as Knative can route it now.
func (b *reversal) edited(ctx context.Context, tip gitops.Snapshot) (plan.Edited, error) {
	if b.leavesOut {
		return b.routable(ctx).EditLeftOut(ctx, b.target.config.Settings, tip)
	}
	return b.routable(ctx).Edit(ctx, b.target.config.Settings, tip)
}

// expect says what must be live now.
func (b *reversal) expect(ctx context.Context) error {
	if _, err := b.after.State.Traffic(); err != nil {
		return err
	}
	want := plan.ShownAt(b.after.State)
	want.TrafficOnly = b.after.Refused != nil
	b.target.journal.Tell(event.TrafficSet{Traffic: want.Traffic})
	b.target.journal.Tell(event.RollbackLeads{}) // it is made
	tellLeftOut(ctx, b.target, b.Dest.Traffic, want.Traffic)
	commit := b.log.Step().Commit
	intent := b.target.infra.Intent(commit, want)
	intent.Over = b.over
	intent.Restores, intent.RollsBack = true, b.target.infra.OfPromotion(b.rolledBack())
	b.promotion, b.ask = want.Promotion, askAt(b.target, gate.Step{Name: b.Step, Percent: 100}, commit, intent)
	return nil
}

// rolledBack is the promotion whose commits the reversal replaces.
func (b *reversal) rolledBack() string {
	if b.Step == record.Rollback {
		return b.Plan.Record.Promotion
	}
	return b.Plan.ID
}

// confirm waits until what was rolled back is live. Where nothing but targets at 0 % keeps
// Knative from routing it, it is committed once more without them.
func (r *run) confirm(ctx context.Context, reversals []*reversal) error {
	err := r.seeLive(ctx, reversals)
	var again []*reversal
	for _, b := range reversals {
		if b.failed == nil {
			continue
		}
		without := b.withoutDown(ctx)
		if without == nil {
			return err
		}
		again = append(again, without)
	}
	if err == nil {
		return nil
	}
	if failed := r.reverse(ctx, again, 0); failed != nil {
		return fmt.Errorf("%w; nor could it be committed without the targets at 0 %%: %w", err, failed)
	}
	return r.seeLive(ctx, again)
}

// seeLive waits until reversals are live.
func (r *run) seeLive(ctx context.Context, reversals []*reversal) error {
	return together(ctx, reversals, func(ctx context.Context, b *reversal) error {
		waiting, stop := b.whileRoutable(ctx)
		defer stop()
		if b.failed = b.target.gates.All(waiting, []gate.Gate{gate.Live(r.config.Gates.Wait)}, b.ask, b.log, b.target.saw); b.failed != nil {
			b.log.Unseen()
			b.noteRollback(ctx)
			return b.failed
		}
		b.log.Passed()
		return nil
	})
}
