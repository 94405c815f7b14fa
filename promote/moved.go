package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/plan"
)

// A movedError is why nothing further is given to the new revision once somebody has
// moved the Service past Git, as by a rollback in Argo CD or with kubectl: the next
// commit would undo that.
type movedError struct{ reason string }

// Error says where to.
func (e *movedError) Error() string { return e.reason }

func isMoved(err error) bool {
	_, is := errors.AsType[*movedError](err)
	return is
}

// passesMoved tells whether a step may be made over what others have made of the Service:
// the run was told not to stop at it, and it is the first step that it makes live.
func (m *move) passesMoved() bool {
	return m.index == 0 && (m.target.config.Preflight != PreflightError || slices.Contains(m.target.config.Skip, check.Drifted))
}

// notMoved is an error where the cluster is not as the tip says any more, and will not
// come to be so by itself. Where Argo CD does not answer, it is asked for as long as a
// commit may take to be live: what cannot be seen may be anything.
func (p *targetRun) notMoved(ctx context.Context, tip gitops.Snapshot) error {
	seen, err := p.service.Observe(ctx, p.config.Gates.Wait)
	if err != nil {
		return fmt.Errorf("asking who has the traffic: %w", err)
	}
	if seen.Service == nil {
		return nil
	}
	state, err := p.infra.Read(ctx, tip)
	if err != nil {
		return ctx.Err() // the commit is made on what renders
	}
	intent := p.infra.Intent(tip.Commit.Hash, plan.ShownAt(state))
	intent.Over = p.over()
	if why := argo.Moved(ctx, intent, seen.App, seen.Service); why != "" {
		return &movedError{why}
	}
	if has := drift(tip.Commit.Hash, state, seen.Service, seen.App); len(has) > 0 {
		traffic, _ := state.Traffic() // it was read for the drift
		return &movedError{fmt.Sprintf("somebody has moved the traffic past Git: the cluster gives it to %s, and Git to %s", described(has), knative.Describe(traffic))}
	}
	return nil
}

// stillThere is the same after the gates of the last step, whose commit none comes after.
func (m *move) stillThere(ctx context.Context) error {
	shown, err := m.target.systems.Commits.At(ctx, m.commit)
	if err != nil {
		return ctx.Err()
	}
	return m.target.notMoved(ctx, shown)
}

// over are the revisions that the promotion may move users from.
func (p *targetRun) over() []string {
	return append(p.at.Holders(), p.plan.From, p.plan.To)
}

// overFor are those that a rollback to a revision may; none: it was named, so whatever
// users have.
func (p *targetRun) overFor(leads string) []string {
	if p.config.To != "" {
		return nil
	}
	return append(p.at.Holders(), leads)
}

// othersChoice refuses to roll a failed promotion back where somebody has moved the
// traffic to what neither Git had before nor the promotion leads from and to: that is
// where they want it.
func (p *targetRun) othersChoice(ctx context.Context, over []string, leads string) error {
	if seen, err := p.service.Observe(ctx, live.PatienceOf(ctx)); err == nil {
		p.saw(seen)
	}
	commit, shown := p.journal.Result.Commit, p.at.Now
	if state, err := p.infra.At(ctx, commit); err == nil {
		shown = state
	}
	has := drift(commit, shown, p.at.Live, p.at.App)
	for name := range has {
		if !slices.Contains(over, name) {
			return &movedError{fmt.Sprintf("somebody has given the traffic to others: %s: %s", described(has), strings.Join(choices(ctx, p, has, leads), "; "))}
		}
	}
	return nil
}
