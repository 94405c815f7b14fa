package promote

import (
	"context"
	"errors"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// closeTime is how long a run tries to write that its last gate has passed, which somebody may have to merge.
const closeTime = time.Minute

// A closing is a step of one target whose gates have all passed.
type closing struct {
	target          *targetRun
	promotion, step string // of the record
	commit          string // that was live
}

// close commits that the gates of the last steps have passed. The commit
// changes comments, so there is nothing to sync and nothing to wait for. A run
// that cannot write it has ended well all the same: the next one asks the gates
// again. The error is that a branch does not show the step any more, or that somebody has
// proposed to roll it back.
func (r *run) close(ctx context.Context, closings []closing) error {
	if len(closings) == 0 {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, closeTime)
	defer stop()
	var edits []commit.Edit
	for _, c := range closings {
		edits = append(edits, c.edit(ctx, time.Now()))
	}
	p, err := r.commit(ctx, edits)
	before, proposed := errors.AsType[*review.NotMergedError](err)
	lost := isSuperseded(err) || proposed && before.RollsBack
	for _, c := range closings {
		switch {
		case p.made:
			c.target.journal.Tell(event.Noted{Commit: p.commit, Title: c.title()})
		case err != nil && !lost:
			c.target.journal.Warn("Git does not say yet that the gates have passed, so a run that is started again asks them again: " + err.Error())
		}
	}
	if lost {
		return noteLost(err)
	}
	return nil
}

// edit notes in the record that the gates have passed.
func (c closing) edit(ctx context.Context, now time.Time) commit.Edit {
	return commit.Edit{
		Proposal: c.target.pulls().Proposal(c.promotion, c.step+pull.Noted, false),
		Subject:  plan.Subject(c.target.Target, c.title()),
		Trailers: []gitops.Trailer{
			{Key: plan.TrailerID, Value: c.promotion}, {Key: plan.TrailerService, Value: c.target.Service}, {Key: plan.TrailerOverlay, Value: c.target.Overlay},
			{Key: plan.TrailerStep, Value: c.step}, {Key: plan.TrailerPassed, Value: now.UTC().Format(time.RFC3339)},
		},
		Draft: func(tip gitops.Snapshot) (d commit.Draft, err error) {
			d.Files, err = editPassed(ctx, c, tip, now)
			if err == nil && len(d.Files) > 0 && !record.RollsBack(c.step) {
				err = c.target.pulls().NotHeld(ctx, c.promotion, c.step+pull.Noted, false)
			}
			return d, c.target.named(err)
		},
	}
}

// unclosed are the last steps of the plans, where the record does not say yet
// that their gates have passed.
func (r *run) unclosed() []closing {
	var closings []closing
	for _, p := range r.targets {
		if !p.plan.Closed() {
			closings = append(closings, closing{p, p.plan.ID, p.plan.LastStep(), p.journal.Result.Commit})
		}
	}
	return closings
}

// closingsOf are the steps of reversals.
func closingsOf(reversals []*reversal) []closing {
	var closings []closing
	for _, b := range reversals {
		if has, err := record.Parse(b.after.State.Record()); err == nil && !has.Is(b.promotion, b.Step) || !record.RollsBack(b.Step) {
			continue // Git showed it before, by a promotion, whose gates nobody has asked now
		}
		closings = append(closings, closing{b.target, b.promotion, b.Step, b.target.journal.Result.Commit})
	}
	return closings
}

// title is what the closing commit says.
func (c closing) title() string {
	switch c.step {
	case record.Restore, record.Rollback:
		return c.step + " passed"
	case record.StepOf(0):
		return "candidate at 0 % passed"
	}
	return c.step + " % passed"
}

// shows tells whether an overlay has the traffic that its record of a rollback says.
func (c closing) shows(state *knative.State, has record.Record) bool {
	split, err := plan.Situation{Target: c.target.Target, Now: state, Tag: c.target.at.Tag}.Split()
	return err == nil && has.Disagreement(c.target.Place(), split) == ""
}

// editPassed notes in the record of a step that its gates have passed, and in which run. Where another
// promotion has gone on from there, there is nothing to note.
func editPassed(ctx context.Context, c closing, tip gitops.Snapshot, now time.Time) (map[string][]byte, error) {
	state, err := c.target.infra.Read(ctx, tip)
	if err != nil {
		return nil, err
	}
	has, err := record.Parse(state.Record())
	if err != nil {
		return nil, record.Unreadable(state, err)
	}
	switch {
	case has.Is(c.promotion, c.step) && has.HasPassed(), has.Promotion != c.promotion && !has.RollsBack() && has.From.Revision != "" && has.From.Revision == c.target.plan.To:
		return nil, nil
	case !has.Is(c.promotion, c.step), has.RollsBack() && !c.shows(state, has), !has.RollsBack() && !c.target.plan.ShowsStep(state, has):
		return nil, plan.Superseded(tip.Commit, "the overlay now has revision %s with %s", plan.OrGenerated(state.Revision()), plan.DescribeTraffic(state))
	}
	by := c.target.config // not who the step's branch names: others may push to that
	has.Passed, has.Commit, has.Run, has.Actor, has.Approved = now, c.commit, by.RunURL, by.Actor, by.Approved
	text, err := has.Encode()
	if err != nil {
		return nil, err
	}
	after, err := state.WithRecord(ctx, text)
	if err != nil {
		return nil, err
	}
	return after.Files()
}
