package promote

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/source"
)

// Run promotes the targets' Services, side by side: one commit a step, and
// after each the gates. What is already in Git is not done again. With DryRun
// it ends after the plan. The error says why a run did not end promoted; the
// Results, one a target, are complete in any case.
func Run(ctx context.Context, c Config, on Systems) ([]event.Result, error) {
	return promote(ctx, c, on, false)
}

// promote is one attempt. Again says that it goes on from another one, as a run that is started again does.
func promote(ctx context.Context, c Config, on Systems, again bool) ([]event.Result, error) {
	r, err := planned(ctx, c, on)
	if err == nil && c.DryRun {
		err = r.each(func(p *targetRun) error { tellFreeze(p); tellPlan(p); return nil })
	}
	if err != nil || c.DryRun {
		return r.end(ctx, ending{cause: err})
	}
	_ = r.each(func(p *targetRun) error { tellTime(ctx, p); return nil })
	cool := func() {}
	for _, moves := range r.moves() {
		err := r.advance(ctx, moves)
		cool()
		if err != nil {
			e := r.fail(ctx, moves, err)
			if !again && goesOn(ctx, moves, err, e) {
				return promote(ctx, c, on, true)
			}
			return r.end(ctx, noteRollbacks(ctx, r, e))
		}
		cool = keepWarm(ctx, r)
	}
	cool()
	if unjudged(r) {
		return r.end(ctx, ending{cause: r.forbidden, hold: r.committed()})
	}
	if err := r.sourcesStill(ctx); err != nil {
		return r.end(ctx, ending{cause: err, hold: r.committed()})
	}
	if err := r.close(ctx, r.unclosed()); err != nil {
		return r.end(ctx, ending{cause: err})
	}
	for _, p := range r.targets {
		p.reached = p.reachedBy(p.plan)
	}
	return r.end(ctx, ending{})
}

// planned is a run that knows what is left to do, and what is in its way.
func planned(ctx context.Context, c Config, on Systems) (*run, error) {
	r, err := open(ctx, event.CommandPromote, c, on)
	for _, do := range []func(*targetRun) error{
		func(p *targetRun) error {
			return cmp.Or(settle(ctx, p), source.NotTakenOut(ctx, &p.origin, p.at, c.RunURL))
		},
		func(p *targetRun) error { return p.takeFrom(ctx, r.tip) },
		func(p *targetRun) error { return makePlan(ctx, p) },
	} {
		if err == nil {
			err = r.each(do)
		}
	}
	if err == nil {
		err = r.preflight(ctx)
	}
	return r, err
}

// makePlan computes what is left to do, and tries its edits, so that with a bad one
// nothing more is pushed than a rollback of what is under way.
func makePlan(ctx context.Context, p *targetRun) error {
	plan, err := plan.New(p.config.Settings, p.at)
	if err != nil {
		return err
	}
	if len(p.at.Images) == 0 && !p.config.DryRun {
		if err := source.MayStand(ctx, &p.origin, p.at, plan); err != nil {
			return err
		}
	}
	if err := p.pulls().Adopt(ctx, &plan, p.at); err != nil {
		return err
	}
	p.journal.DebugPlan(plan, p.at)
	if plan.Alone != "" {
		p.journal.Warn(plan.Alone)
	}
	if err := p.origin.Complete(&plan, p.at); err != nil {
		return err
	}
	if to := plan.Restores().From.Revision; plan.ID != plan.Record.Promotion && to != "" && to != plan.From {
		p.journal.Warn(fmt.Sprintf("nothing says in Git that the gates of %s have passed, which has the traffic: where this promotion fails, also at 0 %%, users get %s; "+
			"to have that judged first, run its promotion again", plan.From, to))
	}
	plan.Started = p.journal.Result.Started
	planned, err := journal.Planned(plan, p.at)
	if err != nil {
		return err
	}
	p.journal.Tell(planned)
	p.planned, p.uneditable = plan.Try(ctx, p.config.Settings, p.at)
	p.plan = plan
	after := overlayAfter(p)
	p.journal.Tell(journal.Renders(p.at.Now, after))
	for _, c := range knative.Companions(p.at.Now, after) {
		p.journal.Say("%s", c.Moves())
	}
	return nil
}

// moves are the steps of all targets, in the order in which the run makes them,
// and side by side where they stand together. First come those that Git shows
// already: what has traffic is judged before any target is given more. Then the
// targets go up together, share by share.
func (r *run) moves() (all [][]*move) {
	var shown []*move
	left := map[int][]*move{} // by their share of the traffic
	for _, p := range r.targets {
		for i, step := range p.plan.Steps {
			if m := (&move{target: p, index: i}); step.Done {
				shown = append(shown, m)
			} else {
				left[step.Percent] = append(left[step.Percent], m)
			}
		}
	}
	if len(shown) > 0 {
		all = append(all, shown)
	}
	for _, percent := range slices.Sorted(maps.Keys(left)) {
		all = append(all, left[percent])
	}
	return all
}

// advance publishes steps in one commit, unless Git shows them already, and asks
// their gates of each target.
func (r *run) advance(ctx context.Context, moves []*move) error {
	for _, m := range moves {
		m.log, m.target.begun = m.target.journal.Begin(m.index), m.index+1
	}
	if err := noteLost(r.publish(ctx, moves)); err != nil {
		return fmt.Errorf("%s: %w", moves[0].step().Name, err)
	}
	return untilOneFails(ctx, moves, func(ctx context.Context, m *move) error {
		return noteLost(m.target.named(m.askGates(ctx)))
	})
}

// publish commits steps that Git does not show yet, unless something forbids it.
func (r *run) publish(ctx context.Context, moves []*move) error {
	if moves[0].step().Done {
		for _, m := range moves {
			m.committed(m.target.plan.Tip, true)
		}
		return nil
	}
	if r.forbidden != nil {
		return r.forbidden
	}
	p, err := r.commitSteps(ctx, moves)
	if err != nil {
		return err
	}
	for i, m := range moves {
		m.readBack(ctx, p.commit, p.drafts[i].Traffic, p.drafts[i].Wanted)
		m.committed(p.commit, !p.made)
	}
	return nil
}

// commitSteps makes one commit of the targets' steps, unless something of the
// infra repository forbids it. Where the run may override that, it does so in a
// commit that says it.
func (r *run) commitSteps(ctx context.Context, moves []*move) (published, error) {
	var over []guard.Override
	for {
		var edits []commit.Edit
		for _, m := range moves {
			edits = append(edits, m.edit(ctx, over))
		}
		p, err := r.commitUsable(ctx, edits, r.config.Gates.Wait)
		next, causes := guard.Overridden(err)
		if next == "" || slices.Contains(over, next) {
			return p, err
		}
		for _, m := range moves {
			m.target.journal.Override(causes, r.config.Reason)
		}
		over = append(over, next)
	}
}

// reachedBy is how a target ends whose plan has passed all its gates.
func (p *targetRun) reachedBy(plan plan.Plan) event.Status {
	switch {
	case !plan.Last(len(plan.Steps) - 1):
		p.journal.Explain("stopped at %s as asked; a run with further steps continues", plan.Steps[len(plan.Steps)-1].Name)
		return event.Held
	case !p.journal.Result.Changed && plan.Closed():
		return event.Unchanged
	}
	return event.Promoted
}

// preflight looks for what would break the promotions, before the first commit of
// the run. One that is under way is judged all the same, so that what is bad is
// rolled back: what was found bars its next step. But nothing is judged, and no sync
// asked for, where somebody has moved the traffic past Git.
func (r *run) preflight(ctx context.Context) error {
	for _, p := range r.targets {
		err := loadAnalysis(p)
		p.gates.Templates.Unread = err
		if err = cmp.Or(p.uneditable, err); err == nil && !p.resumed() {
			err = p.gates.Fit(ctx) // what is under way is measured as far as it comes
		}
		if err == nil || p.resumed() {
			found := p.preflight(ctx)
			if check.IsDrifted(found) {
				return p.named(found)
			}
			err = cmp.Or(err, found)
		}
		if r.forbidden == nil {
			r.forbidden = p.named(err)
		}
	}
	if underWay(r) && !r.config.DryRun && ctx.Err() == nil {
		return nil
	}
	return r.forbidden
}

// underWay tells whether Git shows a step that may still have to be rolled back.
func underWay(r *run) bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return p.plan.Restorable() && p.resumed() })
}

// unjudged tells whether a target was asked for a gate that cannot be read, or shows what no step may have made. What
// has no step left above it has not passed, whatever counts as passed.
func unjudged(r *run) bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return cmp.Or(p.gates.Templates.Unread, p.uneditable) != nil })
}

// sourcesStill is why a promotion must not be noted as passed, that has all its commits:
// what it comes from was rolled back there while its last gates were asked.
func (r *run) sourcesStill(ctx context.Context) error {
	left := slices.DeleteFunc(r.unclosed(), func(c closing) bool { return c.target.plan.Source.IsZero() })
	if len(left) == 0 {
		return nil
	}
	tip, err := r.systems.Branch.Tip(ctx)
	if err != nil {
		return err
	}
	for _, c := range left {
		p := c.target
		if err := p.origin.NotWithdrawn(ctx, tip, p.plan, p.at); err != nil {
			return p.named(err)
		}
	}
	return nil
}

// keepWarm asks the candidates now and then until it is stopped, so that what is
// warm stays so until the next step is live.
func keepWarm(ctx context.Context, r *run) (stop func()) {
	ctx, stop = context.WithCancel(ctx)
	for _, p := range r.targets {
		url, err := gate.CandidateURL(p.at.Live, p.at.Tag, 0)
		if err == nil { // else it has all traffic, or none of its own
			go p.config.Gates.KeepWarm(ctx, url)
		}
	}
	return stop
}
