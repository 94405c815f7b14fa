package promote

import (
	"context"
	"errors"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// emergencyLook is how long a rollback waits for what it can do without.
const emergencyLook = 5 * time.Second

// Rollback takes the Service back in one commit and without steps: to the
// promotion before, to a named revision or to a commit. It works in the
// middle of a promotion too, whose run then ends as superseded. One that was
// stopped before it was seen live is confirmed, and nothing gone back from once
// more.
func Rollback(ctx context.Context, c Config, on Systems) (Result, error) {
	c.Images = nil
	r, at, err := open(ctx, commandRollback, c, on)
	if err == nil {
		at, err = r.look(ctx, at, emergencyLook)
		err = r.unlessUrgent(err)
	}
	if err != nil {
		return r.end(ctx, ending{cause: err})
	}
	split, err := at.split(r.Config)
	if err != nil {
		return r.end(ctx, ending{cause: err})
	}
	if goneBack(r.Config, at, split) {
		return r.end(ctx, r.confirmBack(ctx, at, split))
	}
	back, err := r.planBack(ctx, at, split)
	if err != nil || c.DryRun {
		return r.end(ctx, ending{reached: Unchanged, cause: err})
	}
	return r.end(ctx, r.goBack(ctx, at, split, back))
}

// goBack commits the rollback and waits until it is live. One that only takes a
// candidate without traffic away says so.
func (r *run) goBack(ctx context.Context, at Situation, split knative.Split, back goingBack) ending {
	position, log, err := r.goTo(ctx, back)
	if err != nil {
		return ending{cause: err}
	}
	if err := r.confirm(ctx, position, log); err != nil {
		return ending{back: true, failed: err}
	}
	committed := r.journal.result.Changed
	r.closeStep(ctx, position.promotion, stepRollback)
	switch {
	case !r.journal.result.Changed:
		return ending{reached: Unchanged}
	case committed && !moved(at.Now, r.journal.result.Traffic):
		r.journal.reason("no traffic has moved: %s had all of it", back.dest.Revision)
		if split.Candidate == "" {
			return ending{reached: Unchanged}
		}
	}
	return ending{reached: RolledBack}
}

// moved tells whether the share of some revision is another one now.
func moved(before *knative.State, now []servingv1.TrafficTarget) bool {
	was, err := before.Traffic()
	if err != nil {
		return true
	}
	share := map[string]int{}
	for _, t := range was {
		share[t.RevisionName] += knative.Percent(t)
	}
	if len(was) == 0 {
		share[""] = 100
	}
	for _, t := range now {
		share[t.RevisionName] -= knative.Percent(t)
	}
	for _, difference := range share {
		if difference != 0 {
			return true
		}
	}
	return false
}

// unlessUrgent is the error of a look at the live Service, or nil where an
// emergency may pass over it: a Service without a ready revision, or an Argo CD
// that does not answer. What is wrong with the inputs may not.
func (r *run) unlessUrgent(err error) error {
	if err == nil || errors.Is(err, argo.ErrAuth) || errors.Is(err, argo.ErrNotFound) || errors.Is(err, context.Canceled) || isSuperseded(err) {
		return err
	}
	r.journal.say("going on without the live Service: %v", err)
	return nil
}

// goneBack tells whether Git shows a commit already that took something back
// and that is still to be seen live, or this workflow run's own from an attempt
// before. Without a name for where to, going back once more would be further
// than anybody asked for.
func goneBack(c Config, at Situation, split knative.Split) bool {
	record := at.Record
	own := c.RunAgain && record.Step == stepRollback && record.Run != "" && record.Run == c.RunURL
	return c.To == "" && at.Unreadable == nil && record.takesBack() && (!record.passed() || own) && record.disagreement(c.Overlay, split) == ""
}

// confirmBack waits until a commit that took something back is live.
func (r *run) confirmBack(ctx context.Context, at Situation, split knative.Split) ending {
	record := at.Record
	r.journal.confirms(at, split)
	r.journal.say("%s has gone back to %s already, with a commit that is in Git", r.Service, split.Stable)
	if r.DryRun {
		return ending{reached: Unchanged}
	}
	log := r.journal.beginBack(record.Step, "back to "+short(r.Service, split.Stable))
	log.committed(at.Tip.Hash, true)
	after := edited{state: at.Now}
	if record.templateStays(at.Now) {
		after.refused = errTemplateStays
	}
	position, err := r.positionOf(at.Tip.Hash, record.Step, after)
	if err != nil {
		return ending{cause: err}
	}
	if err := r.confirm(ctx, position, log); err != nil {
		return ending{back: true, failed: err}
	}
	if record.passed() {
		return ending{reached: Unchanged}
	}
	r.closeStep(ctx, record.Promotion, record.Step)
	return ending{reached: RolledBack}
}

// errTemplateStays is why a run before took the traffic back alone, as far as
// the overlay tells.
var errTemplateStays = errors.New("the overlay still has the template that was to be taken back")

// templateStays tells whether the overlay still has the template that was to be
// taken back, because only the traffic could be.
func (r Record) templateStays(state *knative.State) bool {
	away := r.From
	if r.Step == stepRestore {
		away = r.To
	}
	return state.Revision() == away.Revision
}

// planBack finds what to go back to and tries the edit. The overlay that it
// leads to is not the earlier one: the target previous goes, for one.
func (r *run) planBack(ctx context.Context, at Situation, split knative.Split) (goingBack, error) {
	dest, err := r.rollbackTo(ctx, at, split)
	if err != nil {
		return goingBack{}, err
	}
	plan := Plan{Base: at.Tip.Hash, From: dest.Revision, To: at.Now.Revision(), now: at.Now, record: at.Record, started: r.journal.result.Started}
	plan.from = versionOf(plan.To, at.Now)
	plan.ID = id(r.Config, Plan{Base: plan.Base, To: dest.Revision}, Record{Step: stepRollback})
	back := goingBack{
		plan: plan, step: stepRollback, dest: dest, live: at.Live, reason: r.Reason,
		mayChange: func(now *knative.State, _ Record) bool { return unchanged(now, at.Now) },
	}
	after, err := editBack(ctx, r.Config, back, gitops.Snapshot{Commit: at.Tip, Tree: at.Tree})
	if err != nil {
		return back, err
	}
	r.journal.plannedBack(back, after, at)
	return back, nil
}

func orLatest(revision string) string {
	if revision == "" {
		return "the latest revision"
	}
	return revision
}
