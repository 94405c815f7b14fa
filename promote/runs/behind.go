package runs

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// TakenOut ends a workflow run whose own promotion Git shows no more, as after a git revert:
// a job that waited for an approval, or a run that is started again. The record has gone with
// the commits, so what Argo CD has deployed tells, as far as the Application's history goes. The
// error is else of superseded work. Whole is for who minds only a promotion that is gone as a whole, and not its last steps.
func TakenOut(ctx context.Context, commits Commits, at plan.Situation, run string, whole bool) error {
	if run == "" || at.Unreadable != nil {
		return nil
	}
	now := at.Record.Of(at.Place())
	for d := range deployedSince(ctx, commits, at, now.Commit) {
		if err := takenOut(now, d.record, run, whole); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// TakenOutBehind goes by what stands behind the branch's tip, as far as messages lead there: more
// than Argo CD remembers. Anybody may have brought a commit there that says so, so no rollback asks
// it. An error that is not of superseded work says that nobody can tell.
func TakenOutBehind(ctx context.Context, commits Commits, at plan.Situation, run string) error {
	if run == "" || at.Unreadable != nil {
		return nil
	}
	found, err := commits.Behind(ctx, at.Tip.Hash, plan.RunTrailer(run), plan.TrailerID)
	if err != nil {
		return err
	}
	now, looked := at.Record.Of(at.Place()), map[string]bool{}
	for _, message := range found {
		records, err := recordsOf(ctx, commits, at, message, looked)
		if err != nil {
			return err
		}
		for _, r := range records {
			if err := takenOut(now, r, run, false); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// takenOffTheBranch is the newest promotion that the branch has shown since a time, and shows no more: as it was then, and as far
// as messages lead to what was its tip later, also before a merge that turned the lines round. The time is by the clocks of
// those who committed, some before they pushed, so it should not be a tight one. The zero Record: there is none, or nobody can
// tell.
func takenOffTheBranch(ctx context.Context, commits Commits, at plan.Situation, now record.Record, since time.Time) record.Record {
	line, err := tipsSince(ctx, commits, at.Tip.Hash, since)
	if err != nil || len(line) == 0 {
		return record.Record{}
	}
	found, err := commits.Behind(ctx, at.Tip.Hash, plan.OverlayTrailer(at.Overlay), plan.TrailerID)
	if err != nil {
		return record.Record{}
	}
	looked := map[string]bool{}
	for _, message := range append(found, gitops.Message{Tip: line[len(line)-1]}) {
		shown := len(message.Values) > 0 && !slices.ContainsFunc(message.Values, func(id string) bool { return record.Position(now, id) < 0 })
		brought := message.Commit != "" && message.Commit != message.Tip
		if shown || !slices.Contains(line, message.Tip) || brought && message.Time.Before(since) {
			continue
		}
		records, err := recordsOf(ctx, commits, at, message, looked)
		if err != nil {
			return record.Record{}
		}
		for _, r := range records {
			candidate := r.Pull > 0 && !r.HasBegun() // which may have been made anew on its branch
			if r.Exists() && !candidate && !r.RollsBack() && !goesOn(now, r) {
				return r
			}
		}
	}
	return record.Record{}
}

// tipsSince are what was a branch's tip since a time, the newest first, and last what was it then. Behind a commit that says to be
// of before, by a clock that is wrong, may be some of since; one that says to be of a time to come tells nothing there.
func tipsSince(ctx context.Context, commits Commits, tip string, since time.Time) (line []string, err error) {
	all, err := commits.Behind(ctx, tip, gitops.Trailer{}, "")
	young := 0
	for _, m := range all {
		if m.Commit != m.Tip {
			continue
		}
		line = append(line, m.Tip)
		if n := len(line); m.Time.After(since) && (n == young+1 || !m.Time.After(time.Now())) {
			young = n
		}
	}
	return line[:min(young+1, len(line))], err
}

// takenOut ends a run that has made a record which Git does not go on from, or not from all of it. One of the second in which
// the oldest that is remembered began may be forgotten.
func takenOut(now, made record.Record, run string, whole bool) error {
	_, since := record.Remembers(now)
	switch {
	case made.Run != run || made.RollsBack() || now.Cut && !made.Started.After(since):
	case !goesOn(now, made):
		return sinceThen("has taken its commits out of Git")
	case !whole && now.Promotion == made.Promotion && !now.RollsBack() && now.Reached < made.Reached:
		return sinceThen("has taken its step of %d %% out of Git", made.Reached)
	}
	return nil
}

// LookedLimit is how many commits are looked at whose messages lead to them: anybody can write
// messages that lead to commits without what they say, and nobody can tell then.
const LookedLimit = 100

// errTooMany is the error of messages that lead nowhere.
var errTooMany = fmt.Errorf("over %d commits behind the branch's tip say in their messages what is to be looked for", LookedLimit)

// A RevertedRecord is that of a promotion that Git shows no more, or less of.
type RevertedRecord struct {
	record.Record
	Later bool // than the promotion that Git shows, by the order of their commits
}

// Reverted are the promotions that commits behind the tip have made of the target's overlay since the oldest one that its record
// has, and that Git shows no more, as after a git revert, the newest first: as far as messages lead there, and then those that
// Argo CD's history has besides. The one that Git shows is among them where it had reached more than that: somebody has reverted
// the steps above. Whoever may bring a commit can add to what is reverted, and take nothing from it: what one commit says hides
// no other's. The error is one of the looks: nobody can tell then.
func Reverted(ctx context.Context, commits Commits, at plan.Situation) ([]RevertedRecord, error) {
	if at.Unreadable != nil {
		return nil, nil
	}
	found, err := commits.Behind(ctx, at.Tip.Hash, plan.OverlayTrailer(at.Overlay), plan.TrailerID)
	if err != nil {
		return nil, err
	}
	now := at.Record.Of(at.Place())
	known := shownBy(now)
	remembered, since := record.Remembers(now)
	shown := oldest(found, func(id string) bool { return id == now.Promotion })
	last := oldest(found, func(id string) bool { return id == now.Promotion || slices.Contains(remembered, id) })
	var all reverted
	looked := map[string]bool{}
	for n, message := range found {
		unknown := slices.ContainsFunc(message.Values, func(id string) bool { return !known[id] })
		if !unknown || n > last && message.Time.Before(since) { // by the order and by the clock it is forgotten
			continue
		}
		records, err := recordsOf(ctx, commits, at, message, looked)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			less := r.Promotion != now.Promotion || r.Reached > now.Reached
			if r.Exists() && !r.RollsBack() && !known[r.Promotion] && less && (n <= last || !r.Started.Before(since)) {
				all.add(RevertedRecord{r, r.Promotion != now.Promotion && (shown < 0 || n < shown || r.Started.After(now.Started))})
			}
		}
	}
	all.addDeployed(ctx, commits, at, known)
	return all, ctx.Err()
}

// addDeployed adds those of what Argo CD has deployed since the promotion that the record has: a server may give out no
// commits without their files, and a squash no message.
func (all *reverted) addDeployed(ctx context.Context, commits Commits, at plan.Situation, known map[string]bool) {
	now := at.Record.Of(at.Place())
	_, since := record.Remembers(now)
	restored := map[string]bool{}
	for d := range deployedSince(ctx, commits, at, deployedWith(now)) {
		r := d.record.Of(at.Place())
		if restored[r.Promotion] = restored[r.Promotion] || r.RollsBack(); restored[r.Promotion] || known[r.Promotion] || r.Started.Before(since) {
			continue
		}
		if r.Promotion != now.Promotion || r.Reached > now.Reached {
			all.add(RevertedRecord{r, r.Promotion != now.Promotion && r.Started.After(now.Started)})
		}
	}
}

// recordsOf are the records that a message leads to and that were not looked at: the one of the
// branch, and that of the commit, which may have been the tip before a merge that turned the lines
// round.
func recordsOf(ctx context.Context, commits Commits, at plan.Situation, message gitops.Message, looked map[string]bool) (all []record.Record, err error) {
	for _, commit := range []string{message.Tip, message.Commit} {
		if commit == "" || looked[commit] {
			continue
		}
		if looked[commit] = true; len(looked) > LookedLimit {
			return nil, errTooMany
		}
		then, err := commits.At(ctx, commit)
		if err != nil {
			return nil, err
		}
		all = append(all, plan.RecordAt(then, at.Target).Of(at.Place()))
	}
	return all, nil
}

// shownBy are the promotions that a record shows as they are, but for one that is under way or
// has ended as it should: Git may show less of that.
func shownBy(now record.Record) map[string]bool {
	known := map[string]bool{"": true}
	for _, e := range now.Entries() {
		known[e.Promotion] = true
	}
	known[now.Promotion] = !now.Exists() || now.RollsBack()
	return known
}

// oldest is the index of the last message, which are the newest first, that has an id; -1: none has.
func oldest(found []gitops.Message, is func(id string) bool) int {
	for n, message := range slices.Backward(found) {
		if slices.ContainsFunc(message.Values, is) {
			return n
		}
	}
	return -1
}

// reverted are promotions, each as it had reached most.
type reverted []RevertedRecord

func (all *reverted) add(r RevertedRecord) {
	for i, has := range *all {
		if has.Promotion == r.Promotion && has.Started.Equal(r.Started) && reflect.DeepEqual(has.To, r.To) && reflect.DeepEqual(has.From, r.From) {
			(*all)[i].Reached = max(has.Reached, r.Reached)
			return
		}
	}
	*all = append(*all, r)
}
