package promote

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
)

// Run promotes the Service: one commit a step, and after each the gates. What
// is already in Git is not done again. With DryRun it ends after the plan. The
// error says why a run did not end promoted; the Result is complete in any
// case.
func Run(ctx context.Context, c Config, on Systems) (Result, error) {
	r, at, err := open(ctx, commandPromote, c, on)
	if err == nil {
		at, err = r.look(ctx, at, 0)
	}
	if err != nil {
		return r.end(ctx, ending{cause: err})
	}
	plan, err := r.plan(ctx, at)
	if err == nil {
		err = r.preflight(ctx, at)
	}
	if err != nil || c.DryRun {
		return r.end(ctx, ending{reached: Unchanged, cause: err})
	}
	for i := range plan.Steps {
		if err := r.advance(ctx, plan, i, &at); err != nil {
			return r.end(ctx, r.fail(ctx, plan, i, at, err))
		}
	}
	if !plan.closed() {
		r.closeStep(ctx, plan.ID, plan.last())
	}
	return r.end(ctx, ending{reached: r.reached(plan)})
}

// plan computes what is left to do, and tries its edits, so that a bad one ends
// the run before anything is pushed.
func (r *run) plan(ctx context.Context, at Situation) (Plan, error) {
	plan, err := NewPlan(r.Config, at)
	if err != nil {
		return plan, err
	}
	plan.started = r.journal.result.Started
	if err := r.journal.planned(plan, at); err != nil {
		return plan, err
	}
	after, err := tryPlan(ctx, r.Config, plan, at)
	if err != nil {
		return plan, err
	}
	r.journal.renders(at.Now, after)
	for _, c := range knative.Companions(at.Now, after) {
		r.journal.say("%s runs the image too and moves with the first commit, without steps", c.Name)
	}
	r.journal.report()
	return plan, nil
}

// advance publishes one step and asks its gates.
func (r *run) advance(ctx context.Context, plan Plan, i int, at *Situation) error {
	step, log := plan.Steps[i], r.journal.begin(i)
	commit, err := r.publish(ctx, plan, i, *at, log)
	if err != nil {
		return fmt.Errorf("%s: %w", step.Name, err)
	}
	position := &Position{Step: step, Commit: commit, Intent: r.infra.intent(commit, plan.expected(step))}
	for _, gate := range gates(r.Config, step.Step(), r.Cluster, r.journal.verdicts) {
		err := r.ask(ctx, gate, position, log)
		r.saw(at, position.Observed)
		if err != nil {
			return err
		}
	}
	log.passed()
	return nil
}

// reached is how a run ends that passed all its gates.
func (r *run) reached(plan Plan) Status {
	switch {
	case !plan.Last(len(plan.Steps) - 1):
		r.journal.stopped(plan.Steps[len(plan.Steps)-1].Name)
		return Held
	case !r.journal.result.Changed:
		return Unchanged
	}
	return Promoted
}
