package promote

import (
	"cmp"
	"context"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/live"
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
	again     bool          // it is committed once more, as the commit before could not become live
	leavesOut bool          // in that, only what Knative cannot route to is taken out of what the commit before has done
	over      []string      // revisions that users may be moved from; none: whatever they have
	apart     bool          // where it cannot be, the others are rolled back without it

	failed    error           // why it was not seen live
	after     plan.Edited     // what the commit has made of the overlay
	log       journal.StepLog // from when it is committed
	promotion string          // id of the promotion in the record that it leads to
	ask       *gate.Ask       // whether it is live
}

// routable is the reversal as Knative can route it now: no target at 0 %, ours or
// somebody's, may keep the commit from doing anything.
func (b *reversal) routable(ctx context.Context) plan.Reversal {
	back := b.Reversal
	back.Plan.Routable = routable(ctx, b.target, b.Live, b.Dest.Revision)
	back.Dest.Traffic = back.Plan.Routable(b.Dest.Traffic)
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
		Repeats:  func(tip, head gitops.Snapshot) (bool, error) { return b.repeats(ctx, tip, head) },
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
	if b.again {
		return b.Step + pull.Again
	}
	return b.Step
}

// edited is what the reversal makes of a tip, as Knative can route it now.
func (b *reversal) edited(ctx context.Context, tip gitops.Snapshot) (plan.Edited, error) {
	edit := plan.Reversal.Edit
	if b.leavesOut {
		edit = plan.Reversal.EditLeftOut
	}
	return plan.Routed(b.routable(ctx), func(back plan.Reversal) (plan.Edited, error) {
		return edit(back, ctx, b.target.config.Settings, tip)
	}, func(state *knative.State) bool { return blocking(ctx, b.target.service, b.Live, state) != "" })
}

// expect says what must be live now.
func (b *reversal) expect(ctx context.Context) error {
	if _, err := b.after.State.Traffic(); err != nil {
		return err
	}
	want := plan.ShownAt(b.after.State)
	want.TrafficOnly = b.after.Refused != nil || b.after.Carrying() != b.after.State.Revision()
	b.target.journal.Tell(event.TrafficSet{Traffic: want.Traffic})
	b.target.journal.Tell(event.RollbackLeads{}) // it is made
	tellLeftOut(ctx, b.target, slices.Concat(b.Dest.Traffic, b.after.Wanted), want.Traffic)
	commit := b.log.Step().Commit
	intent := b.target.infra.Intent(commit, want)
	intent.Over = b.over
	intent.Restores, intent.Alone, intent.RollsBack = true, b.mayBeAlone(), b.target.infra.OfPromotion(b.rolledBack())
	b.promotion, b.ask = want.Promotion, askAt(b.target, gate.Step{Name: b.Step, Percent: 100}, commit, intent)
	return nil
}

// rolledBack is the promotion whose commits the reversal replaces.
func (b *reversal) rolledBack() string {
	if b.Step == record.Rollback && !b.again {
		return b.Plan.Record.Promotion
	}
	return b.Plan.ID
}

// repeats tells the same of a proposal that rolls back.
func (b *reversal) repeats(ctx context.Context, tip, head gitops.Snapshot) (bool, error) {
	if b.again {
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
	return pull.WouldWrite(want, plan.RecordAt(head, b.target.Target))
}

// onceMore is a reversal that was not seen live, as another commit of it can be; nil: none can.
func (b *reversal) onceMore(ctx context.Context) *reversal {
	switch {
	case b.again || isSuperseded(b.failed) || ctx.Err() != nil:
		return nil
	case b.taken(ctx, b.log.Step().Commit) != "":
		return b.committedAgain(b.Reversal, "as somebody has changed the template meanwhile")
	}
	if again := b.otherwise(ctx); again != nil {
		return again
	}
	return b.withoutDown(ctx)
}

// otherwise is the reversal as the cluster can have it: under another name, where Knative has that of
// the template for another one, or with the traffic alone, where Argo CD could not apply the template.
// Nil: neither is so.
func (b *reversal) otherwise(ctx context.Context) *reversal {
	if !record.RollsBack(b.Step) {
		return nil // what is confirmed is a promotion's commit
	}
	if knative.NameTaken(b.ask.Observed.Service) {
		return b.committedAgain(b.Renamed(b.after.State.Revision()), "with another name for its template, as Knative has that one for another template")
	}
	if !b.mayBeAlone() || !argo.IsUnapplied(b.failed) {
		return nil
	}
	if before := b.target.service.SeenOnce(ctx, b.target.at.Live, emergencyLook); before != nil {
		return b.committedAgain(b.TrafficAlone(before, b.failed), "with the traffic alone, as Argo CD could not apply its template")
	}
	return nil
}

func (b *reversal) committedAgain(back plan.Reversal, how string) *reversal {
	b.target.journal.Say("the rollback of %s is committed once more, %s", b.target.Service, how)
	again := *b
	again.Reversal, again.again, again.done, again.failed = back, true, false, nil
	return &again
}

// mayBeAlone tells whether the traffic alone can follow a commit that rolls back the template too.
func (b *reversal) mayBeAlone() bool {
	return record.RollsBack(b.Step) && !b.again && b.after.Refused == nil && b.Dest.WhyDown() == ""
}

// blocked tells what keeps Knative from coming to what the commit says, however long it is
// waited for; empty: nothing that is known. It is asked beside that wait, which changes what
// the run has seen, so it goes by what that is now.
func (b *reversal) blocked() func(context.Context) string {
	seen, commit := b.target.at.Live, b.log.Step().Commit
	return func(ctx context.Context) string { return cmp.Or(b.down(ctx, seen), b.taken(ctx, commit)) }
}

// taken says that somebody has changed the template since the commit; empty: nobody has.
func (b *reversal) taken(ctx context.Context, commit string) string {
	if b.done {
		return "" // it was committed by another run
	}
	return b.target.infra.NameTaken(ctx, commit, b.after.State)
}

// withoutDown is a reversal that was not seen live, once more without the targets at 0 %
// that keep Knative from routing it: they were Ready, or not known, when it was committed.
// Nil: there are none.
func (b *reversal) withoutDown(ctx context.Context) *reversal {
	state := b.after.State
	has, err := record.Parse(state.Record())
	if err != nil || state.Revision() == "" || b.down(ctx, b.target.at.Live) == "" {
		return nil
	}
	b.target.journal.Say("the rollback of %s is committed once more, without the targets at 0 %% that keep Knative from routing it", b.target.Service)
	back := b.LeavingOut(b.after, has, b.target.at)
	return &reversal{target: b.target, split: b.split, over: b.over, again: true, leavesOut: true, Reversal: back}
}

// down says of a target at 0 % of the reversal's commit that it certainly keeps Knative from
// routing; empty: none does.
func (b *reversal) down(ctx context.Context, seen *servingv1.Service) string {
	return blocking(ctx, b.target.service, seen, b.after.State)
}

// starts waits until the revision that users were moved to has a pod. Where none starts, it tells
// what the last one has written, and which revision was good before.
func (b *reversal) starts(ctx context.Context) error {
	p := b.target
	err := p.service.Starts(ctx, live.NamespaceOf(b.ask.Observed.Service), b.Dest.Revision, p.config.Gates.Wait, p.journal.Say)
	if err == nil {
		return nil
	}
	if p.systems.Evidence != nil {
		tellEvidence(p.journal, p.systems.Evidence.Evidence(ctx, p.App, b.Dest.Revision))
	}
	further, _ := p.destinations().LastGood(ctx, b.Dest.Revision, b.split) // then there is none
	p.journal.Tell(event.NoPodStarts{Revision: b.Dest.Revision, Further: further.Revision})
	return err
}

// noteRollback looks whether the revision that a commit has rolled back to is not
// Ready, or somebody has moved the Service since. The traffic stays as it is then: whoever
// has most of it is the one that Git can still give all of it to.
func (b *reversal) noteRollback(ctx context.Context) {
	seen, err := b.target.service.Observe(ctx, emergencyLook)
	b.target.journal.WarnToo(b.target.facts(ctx).NamesakesWarning(ctx, seen.App))
	if err != nil || seen.Service == nil {
		return
	}
	b.target.journal.Tell(journal.SeenLive(seen, b.target.at.Tag))
	if _, ready := b.target.service.Readiness(ctx, seen.Service, b.Dest.Revision); !ready.Down() && b.ask.Observed.Moved.Service == "" {
		return
	}
	if most := b.target.service.Most(ctx, seen.Service, b.Dest.Revision); most != "" {
		b.target.journal.Tell(event.RollbackLeads{To: most})
	}
}
