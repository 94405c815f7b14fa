package runs

import (
	"context"
	"fmt"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// TakenOut ends a workflow run whose own promotion Git shows no more, as after a git revert:
// a job that waited for an approval, or a run that is started again. The record has gone with
// the commits, so what Argo CD has deployed tells, as far as the Application's history goes,
// and what stands behind the branch's tip, as far as messages lead there. A rollback goes by what
// the branch itself has been at, and on where nobody can tell: no merge must keep it from users.
func TakenOut(ctx context.Context, commits Commits, at plan.Situation, run string, rollback bool) error {
	if run == "" || at.Unreadable != nil {
		return nil
	}
	now := at.Record.Of(at.Place())
	var then []record.Record
	for d := range deployedSince(ctx, commits, at, now.Commit) {
		then = append(then, d.record)
	}
	own, err := ofRun(ctx, commits, at, run, rollback)
	if err != nil && !rollback {
		return fmt.Errorf("looking for commits of this run that somebody has taken out of Git: %w", err)
	}
	for _, r := range append(then, own...) {
		switch {
		case r.Run != run || r.RollsBack():
		case !goesOn(now, r):
			return sinceThen("has taken its commits out of Git")
		case now.Promotion == r.Promotion && !now.RollsBack() && now.Reached < r.Reached:
			return sinceThen("has taken its step of %d %% out of Git", r.Reached)
		}
	}
	return ctx.Err()
}

// The newest records of a run tell of the others. Anybody can write messages that lead to
// commits without what they say, so these are looked at up to a number, and nobody can tell then.
const (
	ofRunLimit  = 3
	lookedLimit = 100
)

// errTooMany is the error of messages that lead nowhere.
var errTooMany = fmt.Errorf("over %d commits behind the branch's tip say in their messages what they do not have", lookedLimit)

// ofRun are the records of the newest commits behind the tip that a workflow run has made, as
// far as they can be read: where tip says so, as the branch's tip had them.
func ofRun(ctx context.Context, commits Commits, at plan.Situation, run string, tip bool) (all []record.Record, err error) {
	found, err := commits.Behind(ctx, at.Tip.Hash, plan.RunTrailer(run), plan.TrailerID)
	for n, message := range found {
		if len(all) == ofRunLimit {
			break
		}
		if n == lookedLimit {
			return all, errTooMany
		}
		commit := message.Commit
		if tip {
			commit = message.Tip
		}
		if then, err := commits.At(ctx, commit); err == nil {
			if r := plan.RecordAt(then, at.Target); r.Run == run {
				all = append(all, r)
			}
		}
	}
	return all, err
}

// A RevertedRecord is that of a promotion that Git shows no more, or less of.
type RevertedRecord struct {
	record.Record
	Later bool // than the promotion that Git shows, by the order of their commits
}

// Reverted are the promotions that commits behind the tip have made of the target's overlay
// since the oldest one that its record has, and that Git shows no more, as after a git revert,
// the newest first: as far as messages lead there. The one that Git shows is among them where its
// newest commit had reached more than that: somebody has reverted the steps above. The error is
// one of the looks: nobody can tell then.
func Reverted(ctx context.Context, commits Commits, at plan.Situation) (all []RevertedRecord, err error) {
	if at.Unreadable != nil {
		return nil, nil
	}
	found, err := commits.Behind(ctx, at.Tip.Hash, plan.OverlayTrailer(at.Overlay), plan.TrailerID)
	if err != nil {
		return nil, err
	}
	c := newComparison(ctx, commits, at)
	for _, message := range found {
		if c.before(message) {
			break
		}
		if c.later && slices.Contains(message.Values, c.now.Promotion) {
			c.later = !c.made(message)
		}
		if slices.ContainsFunc(message.Values, func(id string) bool { return !c.known[id] }) {
			all = append(all, c.reverted(message)...)
		}
		switch {
		case c.err != nil:
			return nil, c.err
		case len(c.records) > lookedLimit:
			return nil, errTooMany
		}
	}
	return all, ctx.Err()
}

// A comparison goes over the commits behind a tip, and compares them with what Git shows.
type comparison struct {
	ctx     context.Context
	commits Commits
	at      plan.Situation
	now     record.Record
	known   map[string]bool // promotions that were compared with what Git shows
	oldest  string          // that the record has
	later   bool            // than the promotion that Git shows are the commits that come now
	records map[string]record.Record
	err     error // of a commit that could not be asked for
}

func newComparison(ctx context.Context, commits Commits, at plan.Situation) *comparison {
	c := &comparison{ctx: ctx, commits: commits, at: at, now: at.Record.Of(at.Place()), known: map[string]bool{"": true}, later: true, records: map[string]record.Record{}}
	for _, e := range c.now.Entries() {
		c.known[e.Promotion], c.oldest = true, e.Promotion
	}
	c.known[c.now.Promotion] = !c.now.Exists() || c.now.RollsBack() // to be compared
	return c
}

// before tells whether a commit has made the oldest promotion that the record has: it has none of
// those before.
func (c *comparison) before(message gitops.Message) bool {
	return c.now.Cut && slices.Contains(message.Values, c.oldest) && c.made(message)
}

// made tells whether the tip that came with a commit has what the one before has not: others may
// have written a message that names the same promotion.
func (c *comparison) made(message gitops.Message) bool {
	is, was := c.recordAt(message.Tip), c.recordAt(message.Before)
	return slices.Contains(message.Values, is.Promotion) && (is.Promotion != was.Promotion || is.Step != was.Step || is.Reached != was.Reached)
}

// reverted is the promotion of a commit, where Git shows it no more, or less of it: what the
// branch had, or the commit, which may have been the tip before a merge that turned the lines round.
func (c *comparison) reverted(message gitops.Message) (all []RevertedRecord) {
	for _, commit := range slices.Compact([]string{message.Tip, message.Commit}) {
		r := c.recordAt(commit)
		if !r.Exists() || c.known[r.Promotion] {
			continue
		}
		shown := r.Promotion == c.now.Promotion
		c.known[r.Promotion] = !shown || r.Reached > c.now.Reached || c.made(message)
		if !r.RollsBack() && (!shown || r.Reached > c.now.Reached) {
			all = append(all, RevertedRecord{r, c.later})
		}
	}
	return all
}

// recordAt is the record of a commit; the zero Record where it has none, or that cannot be read.
func (c *comparison) recordAt(commit string) record.Record {
	if commit == "" {
		return record.Record{}
	}
	if has, looked := c.records[commit]; looked {
		return has
	}
	then, err := c.commits.At(c.ctx, commit)
	if err != nil {
		c.err = err
		return record.Record{}
	}
	c.records[commit] = plan.RecordAt(then, c.at.Target).Of(c.at.Place())
	return c.records[commit]
}
