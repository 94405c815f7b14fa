package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// Rollback rolls the targets' Services back in one commit and without steps: to the
// promotion before, to a named revision or to a commit. It works in the
// middle of a promotion too, whose run then ends as superseded. One that was
// stopped before it was seen live is confirmed, and nothing rolled back once
// more.
func Rollback(ctx context.Context, c Config, on Systems) ([]event.Result, error) {
	c.Images = nil
	r, err := open(ctx, event.CommandRollback, c, on)
	if err == nil {
		err = r.each(func(p *targetRun) error { return lookUnless(ctx, p, c.Unseen) })
	}
	var reversals []*reversal
	if err == nil {
		err = r.each(func(p *targetRun) error {
			back, err := planRollback(ctx, p)
			reversals = append(reversals, back)
			return err
		})
	}
	if err != nil || c.DryRun {
		return r.end(ctx, ending{cause: err})
	}
	return r.end(ctx, r.rollBackTo(ctx, reversals))
}

// rollBackTo commits the rollback and waits until it is live.
func (r *run) rollBackTo(ctx context.Context, reversals []*reversal) ending {
	if err := r.reverse(ctx, reversals, 0); err != nil {
		return ending{cause: err}
	}
	if r.config.Unseen {
		return endUnseen(reversals)
	}
	if err := r.confirm(ctx, reversals); err != nil {
		return ending{back: true, failed: err}
	}
	committed := map[*reversal]bool{}
	for _, b := range reversals {
		committed[b] = b.target.journal.Result.Changed
	}
	left := slices.DeleteFunc(slices.Clone(reversals), func(b *reversal) bool { return b.done && b.target.at.Record.HasPassed() })
	_ = r.close(ctx, closingsOf(left)) // who has changed it since ends it for that target
	for _, b := range reversals {
		b.target.reached = b.reachedBy(ctx, committed[b])
	}
	return ending{}
}

// lookUnless sees what is live, but not for long, unless Argo CD is not to be asked.
func lookUnless(ctx context.Context, p *targetRun, unseen bool) error {
	if unseen {
		return runs.Superseded(p.at, p.config.RunURL, p.config.To != "")
	}
	if err := unlessUrgent(p, p.observe(ctx, emergencyLook)); err != nil || p.config.To != "" || p.systems.Commits == nil {
		return err
	}
	return runs.TakenOut(ctx, p.systems.Commits, p.at, p.config.RunURL, true)
}

// endUnseen is how a rollback ends that nobody was to see live. One that was seen by a
// run before has changed nothing.
func endUnseen(reversals []*reversal) ending {
	var failed error
	for _, b := range reversals {
		if b.done && b.target.at.Record.HasPassed() {
			continue
		}
		b.log.Unseen()
		failed = ErrUnseen
	}
	return ending{back: failed != nil, failed: failed}
}

// reachedBy is how a target ends that was rolled back. One that only takes a
// candidate without traffic away says so.
func (b *reversal) reachedBy(ctx context.Context, committed bool) event.Status {
	switch {
	case b.done && (b.target.at.Record.HasPassed() || !record.RollsBack(b.Step) || b.Step == record.Restore && b.wasLive), !b.done && !b.target.journal.Result.Changed:
		return event.Unchanged
	case !b.done && committed && !plan.MovedUsers(b.target.at.Now, b.Live, b.target.journal.Result.Traffic):
		b.target.journal.Explain("no traffic has moved: %s had all of it", b.Dest.Revision)
		if b.split.Candidate == "" {
			return event.Unchanged
		}
		if further, err := b.target.destinations().LastGood(ctx, b.Dest.Revision, b.split); err == nil {
			tellFurther(b.target, "", further.Revision)
		}
	}
	return event.RolledBack
}

// unlessUrgent is the error of a look at the live Service, or nil where an
// emergency may pass over it: a Service without a ready revision, or an Argo CD
// that does not answer. What is wrong with the inputs may not.
func unlessUrgent(p *targetRun, err error) error {
	if err == nil || errors.Is(err, argo.ErrAuth) || errors.Is(err, argo.ErrNotFound) || errors.Is(err, context.Canceled) || isSuperseded(err) {
		return err
	}
	p.service.Unseen = true
	p.journal.Say("going on without the live Service: %v", err)
	return nil
}

// planRollback finds what to roll back to and tries the edit. The overlay that it
// leads to is not the earlier one: the target previous goes, for one.
func planRollback(ctx context.Context, p *targetRun) (*reversal, error) {
	at := p.at
	split, err := at.Split()
	if err != nil && p.config.To == "" {
		return nil, fmt.Errorf("%w; or name where to roll back to with the input to", err)
	}
	confirms := rolledBack(p.config, at, split, time.Now()) || revertedLately(ctx, p, split, time.Now())
	if confirms && stands(ctx, p, split) {
		return confirmOnly(ctx, p, split), p.leadsOn(ctx, split, split.Stable)
	}
	var dest plan.Destination
	if confirms {
		p.journal.Explain("the template has changed since, or a revision was collected, so that the rollback to %s cannot come to be live as it was committed: it is made once more", split.Stable)
		dest, err = p.destinations().Revision(ctx, split.Stable, split)
	} else {
		dest, err = p.destinations().Find(ctx, split)
	}
	if err = cmp.Or(p.leadsOn(ctx, split, dest.Revision), err); err != nil {
		return nil, err
	}
	back := &reversal{
		target: p, split: split, over: p.overFor(dest.Revision),
		Reversal: plan.Reversal{
			Plan: plan.OfRollback(at, dest.Revision, p.journal.Result.Started), Step: record.Rollback, Dest: dest, Live: at.Live, Reason: p.config.Reason,
			MayChange: func(now *knative.State, has record.Record) bool {
				return plan.OnlyConfigured(now, at.Now) || further(at, now, has)
			},
		},
	}
	if err := p.pulls().AdoptRollback(ctx, &back.Reversal, at); err != nil {
		return nil, err
	}
	p.journal.DebugPlan(back.Plan, at)
	after, err := back.routable(ctx).Edit(ctx, p.config.Settings, at.Snapshot())
	if err != nil {
		return nil, err
	}
	tellRollback(p, back, after)
	return back, nil
}

// further tells whether an overlay shows a later step of the promotion that was under way
// in a situation: its run goes on until it sees the rollback.
func further(at plan.Situation, now *knative.State, has record.Record) bool {
	return has.Exists() && has.Promotion == at.Record.Promotion && !has.RollsBack() && now.SameTemplate(at.Now)
}

// tellRollback tells what a rollback leads to.
func tellRollback(p *targetRun, back *reversal, after plan.Edited) {
	p.journal.Tell(journal.PlannedReversal(back.Reversal, p.at, after))
	p.journal.Tell(journal.Renders(p.at.Now, after.State))
	p.journal.Warn(after.Warning(back.Dest))
	if others := plan.OtherImages(p.at.Now, after.State); others != "" {
		p.journal.Explain("other containers change too: %s", others)
	}
	if after.State.Revision() == back.Dest.Revision && back.Dest.Readiness().Gone {
		p.journal.Explain("revision %s no longer exists, it is created again from Git", back.Dest.Revision)
	}
}
