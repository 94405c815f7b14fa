package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/live"
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

// notMoved is an error where the cluster is not as the tip says any more, and will not
// come to be so by itself. What cannot be read says nothing against the next commit, and
// neither does what the preflight is not to stop at, nor a rollback in Argo CD from what
// came before the promotion, where the same revisions have the traffic.
func (p *targetRun) notMoved(ctx context.Context, tip gitops.Snapshot) error {
	if p.Preflight != PreflightError || slices.Contains(p.Skip, check.Drifted) {
		return nil
	}
	seen, err := p.service.Observe(ctx, live.PatienceOf(ctx))
	if err != nil || seen.Service == nil {
		return ctx.Err()
	}
	state, err := p.infra.Read(ctx, tip)
	if err != nil {
		return ctx.Err() // the commit is made on what renders
	}
	if to := p.infra.Undone(ctx, tip.Commit.Hash, state, seen.App); to != "" && p.committed() {
		return &movedError{fmt.Sprintf("somebody has rolled application %s back to %.10s in Argo CD", p.App, to)}
	}
	if has := drift(tip.Commit.Hash, state, seen.Service, seen.App); len(has) > 0 {
		traffic, _ := state.Traffic() // it was read for the drift
		return &movedError{fmt.Sprintf("somebody has moved the traffic past Git: the cluster gives it to %s, and Git to %s", described(has), knative.Describe(traffic))}
	}
	return nil
}

// stillThere is the same after the gates of the last step, whose commit none comes after.
func (m *move) stillThere(ctx context.Context) error {
	shown, err := m.Commits.At(ctx, m.commit)
	if err != nil {
		return ctx.Err()
	}
	return m.notMoved(ctx, shown)
}

// othersChoice refuses to roll a failed promotion back where somebody has moved the
// traffic to what neither Git had before nor the promotion leads from and to: that is
// where they want it.
func (p *targetRun) othersChoice(ctx context.Context, leads string) error {
	if seen, err := p.service.Observe(ctx, live.PatienceOf(ctx)); err == nil {
		p.saw(seen)
	}
	commit, shown := p.journal.Result.Commit, p.at.Now
	if state, err := p.infra.At(ctx, commit); err == nil {
		shown = state
	}
	traffic, _ := shown.Traffic() // without one nothing has drifted
	known := knative.Shares(traffic)
	has := drift(commit, shown, p.at.Live, p.at.App)
	for name := range has {
		if _, before := known[name]; !before && name != leads && name != p.plan.From && name != p.plan.To {
			return &movedError{fmt.Sprintf("somebody has given the traffic to others: %s: %s", described(has), strings.Join(choices(ctx, p, has, leads), "; "))}
		}
	}
	return nil
}
