package promote

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

// Run promotes the targets' Services, side by side: one commit a step, and
// after each the gates. What is already in Git is not done again. With DryRun
// it ends after the plan. The error says why a run did not end promoted; the
// Results, one a target, are complete in any case.
func Run(ctx context.Context, c Config, on Systems) ([]event.Result, error) {
	r, err := open(ctx, event.CommandPromote, c, on)
	if err == nil && !c.DryRun {
		err = r.each(func(p *targetRun) error { p.pulls().Unschedule(ctx, facts.PreflightTime); return nil })
	}
	if err == nil {
		err = r.each(func(p *targetRun) error { return cmp.Or(p.observe(ctx, 0), notTakenOut(ctx, p)) })
	}
	if err == nil {
		err = r.each(func(p *targetRun) error { return p.takeFrom(ctx, r.tip) })
	}
	if err == nil {
		err = r.each(func(p *targetRun) error { return makePlan(ctx, p) })
	}
	if err == nil {
		err = r.preflight(ctx)
	}
	if err == nil && c.DryRun {
		err = r.each(func(p *targetRun) error { tellFreeze(p); tellPlan(p); return nil })
	}
	if err != nil || c.DryRun {
		return r.end(ctx, ending{cause: err})
	}
	for _, p := range r.targets {
		tellTime(ctx, p)
	}
	cool := func() {}
	for _, moves := range r.moves() {
		err := r.advance(ctx, moves)
		cool()
		if err != nil {
			return r.end(ctx, noteRollbacks(ctx, r, r.fail(ctx, moves, err)))
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

// makePlan computes what is left to do, and tries its edits, so that a bad one
// ends the run before anything is pushed.
func makePlan(ctx context.Context, p *targetRun) error {
	plan, err := plan.New(p.config.Settings, p.at)
	if err != nil {
		return err
	}
	if err := notWithdrawn(p, plan); err != nil {
		return err
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
	p.planned, err = plan.Try(ctx, p.config.Settings, p.at)
	if err != nil {
		return err
	}
	p.plan = plan
	after := overlayAfter(p)
	p.journal.Tell(journal.Renders(p.at.Now, after))
	for _, c := range knative.Companions(p.at.Now, after) {
		p.journal.Say("%s runs the image too and moves with the first commit, without steps", c.Name)
	}
	return nil
}

// A move is one step of one target.
type move struct {
	target *targetRun
	index  int // of the step in the plan
	log    journal.StepLog
	commit string // that shows the step
}

func (m *move) step() plan.PlannedStep { return m.target.plan.Steps[m.index] }

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

// askGates asks the gates of a step, one row after the other.
func (m *move) askGates(ctx context.Context) error {
	step := m.target.gates.Step(m.step().Name, m.step().Step())
	intent := m.target.infra.Intent(m.commit, m.target.plan.Expected(m.step()))
	if intent.Over = m.target.over(); m.passesMoved() {
		intent.Over, intent.Own, intent.Gives = nil, nil, nil
	}
	asked := askAt(m.target, step, m.commit, intent)
	for _, row := range m.target.gates.After(step, m.target.unasked) {
		if err := m.target.gates.All(ctx, row, asked, m.log, m.target.saw); err != nil {
			return err
		}
	}
	if m.index == len(m.target.plan.Steps)-1 {
		if err := m.stillThere(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.step().Name, err)
		}
	}
	m.log.Passed()
	return nil
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
		m.readBack(ctx, p.commit, p.drafts[i].Traffic)
		m.committed(p.commit, !p.made)
	}
	return nil
}

// committed notes the commit that shows the step.
func (m *move) committed(hash string, resumed bool) {
	m.commit = hash
	m.log.Committed(hash, resumed)
	m.target.journal.Tell(event.TrafficSet{Traffic: m.step().Traffic})
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
		p, err := r.commitRendered(ctx, edits, r.config.Gates.Wait)
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

// edit is what the step changes. The tip that it is made on says whether the
// target may have more traffic now; a tip that shows the step already changes
// nothing. What the run may override passes where it stands in over.
func (m *move) edit(ctx context.Context, over []guard.Override) commit.Edit {
	step := m.step()
	e := commit.Edit{
		Proposal: m.target.pulls().Proposal(m.target.plan.ID, record.StepOf(step.Percent), m.index == 0),
		Adopts:   m.adopts,
		Subject:  step.Subject,
		Trailers: plan.Trailers(m.target.config.Settings, m.target.plan, record.StepOf(step.Percent), m.target.plan.From, m.target.plan.To, m.target.config.Reason),
		Draft: func(tip gitops.Snapshot) (commit.Draft, error) {
			plan := m.routable(ctx)
			files, err := plan.EditStep(ctx, m.target.config.Settings, m.index, tip, m.target.at.Live)
			if err == nil && len(files) > 0 {
				err = m.permitted(ctx, plan, tip, over)
			}
			return commit.Draft{Files: files, Traffic: plan.Steps[m.index].Traffic}, m.target.named(err)
		},
	}
	for _, o := range over {
		e.Trailers = append(e.Trailers, gitops.Trailer{Key: plan.TrailerOverride, Value: string(o)})
	}
	return e
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
