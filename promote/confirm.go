package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/runs"
)

// rolledBack tells whether Git shows a commit already that rolled back, and that
// a rollback without a name for where to only confirms: one that nobody has noted as
// seen live, as the run that makes it may be at work still, or one that is this workflow
// run's own, or so young that the promotion or somebody else has answered the same incident.
// What a gate, or the next promotion, has ended before users were given anything was none, and
// one that has failed so since, as a correction may, changes nothing.
// Rolling back once more would be further than anybody asked for. Where the revision
// that has the traffic since is not Ready, it does not suffice.
func rolledBack(c Config, at plan.Situation, split knative.Split, now time.Time) bool {
	has := at.Record
	if at.Unreadable != nil || !has.Exists() || !mayConfirm(c, at, split) {
		return false
	}
	switch {
	case !has.HasPassed():
		return has.RollsBack()
	case has.Step == record.Restore && has.Run != "" && has.Run == c.RunURL:
		return true // as by a job that runs when another one has failed
	}
	left, over := record.LeftFor(has.Entries(), split.Stable)
	own := left.Run != "" && left.Run == c.RunURL
	return own && c.RunAgain || now.Sub(over).Abs() < sameIncident
}

// mayConfirm tells whether a rollback has no name for where to, and one revision has all traffic
// by the record and by the fields, and is not known to be down.
func mayConfirm(c Config, at plan.Situation, split knative.Split) bool {
	return c.To == "" && split.Candidate == "" && at.Record.Disagreement(at.Place(), split) == "" && !at.OldReadiness.Down()
}

// revertedLately tells whether somebody has taken promotions out of Git so lately, as by a git
// revert, that a rollback without a name for where to is an answer to the same incident: what
// has all traffic is what one of them began from.
func revertedLately(ctx context.Context, p *targetRun, split knative.Split, now time.Time) bool {
	at := p.at
	if p.systems.Commits == nil || !mayConfirm(p.config, at, split) {
		return false
	}
	taken := runs.LastTakenOut(ctx, p.systems.Commits, at, now.Add(-sameIncident))
	left := record.LeftByTakingOut(taken, at.Record, split.Stable)
	if left.Promotion == "" || left.Started.Before(record.LastMove(at.Record.Entries()).Started) {
		return false
	}
	p.journal.Explain("somebody has taken the promotion to %s out of Git", left.To.Revision)
	return true
}

// sameIncident is how long after a rollback another one without a name for where
// to is taken for an answer to the same incident.
const sameIncident = 15 * time.Minute

// stands tells whether Git shows a rollback as it would be made now: nobody has changed
// the template since, under the name of a revision that it no longer makes.
func stands(ctx context.Context, p *targetRun, split knative.Split) bool {
	dest, err := p.destinations().Revision(ctx, split.Stable, split)
	if err != nil {
		return true // nothing better can be made of it
	}
	back := reversal{target: p, Reversal: plan.Reversal{
		Plan: plan.OfRollback(p.at, dest.Revision, time.Time{}), Step: record.Rollback, Dest: dest, Live: p.at.Live,
		MayChange: func(*knative.State, record.Record) bool { return true },
	}}
	after, err := back.routable(ctx).Edit(ctx, p.config.Settings, p.at.Snapshot())
	return err != nil || p.at.Now.SameTemplate(after.State) && after.State.Revision() == p.at.Now.Revision() &&
		plan.SameShares(p.at.Now, after.State) // targets at 0 % are left out by who confirms it
}

// tellFurther is for who wants users to leave what a rollback leaves them on. The whole command
// is told by who knows the other inputs.
func tellFurther(p *targetRun, words, further string) {
	p.journal.Tell(event.LeadsFurther{To: further})
	p.journal.Explain("%sto leave it too, roll back to %s with the input to", words, further)
}

// confirmOnly is a commit that rolled back and that is to be seen live
// only.
func confirmOnly(ctx context.Context, p *targetRun, split knative.Split) *reversal {
	has := p.at.Record
	p.journal.Tell(journal.Confirmed(p.at, split))
	shown := "rollback"
	if !has.RollsBack() {
		shown = "promotion"
	}
	p.journal.Say("Git shows the %s of %s to %s already", shown, p.Service, split.Stable)
	left, _ := record.LeftFor(has.Entries(), split.Stable)
	switch further, err := p.destinations().Previous(ctx, split); {
	case err != nil || !has.HasPassed() && !p.at.IsLive(split):
	case further.Revision == left.From.Revision && left.To.Revision == split.Stable && !left.Rollback:
		p.journal.Explain("it was promoted to %s before, over %s: to leave it too, name where to roll back to with the input to", split.Stable, further.Revision)
	default:
		tellFurther(p, fmt.Sprintf("it was rolled back to %s before; ", split.Stable), further.Revision)
	}
	back := &reversal{target: p, split: split, over: p.overFor(split.Stable), done: true, wasLive: p.at.IsLive(split), Reversal: plan.Confirming(p.at)}
	back.after.State = p.at.Now
	if has.TemplateStays(p.at.Now) {
		back.after.Refused = errTemplateStays
	}
	return back
}

// errTemplateStays is why a run before rolled the traffic back alone, as far as
// the overlay tells.
var errTemplateStays = errors.New("the overlay still has the template that was to be rolled back")
