package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/moved"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/source"
)

// fail decides what a run leaves behind that cannot go on after a step of some
// targets, and leaves that.
func (r *run) fail(ctx context.Context, moves []*move, cause error) ending {
	for _, m := range moves {
		switch {
		case r.heldBack(cause):
			m.log.HeldBack(cause, guard.IsFreeze(cause))
		default:
			m.log.Failed(cause)
		}
	}
	for _, p := range r.targets {
		p.stop()
	}
	defer askEvidence(ctx, r, moves)()
	switch {
	case isDown(cause), errors.Is(cause, errReadyAgain):
		return ending{cause: cause, hold: r.committed()}
	case !r.restorable():
		return ending{cause: cause, hold: ask.IsGate(cause) && r.committed()}
	case r.systems.cancelled(ctx):
		return r.cancel(ctx, cause)
	case r.heldBack(cause):
		return ending{cause: cause, hold: r.committed() && !pull.IsUnmerged(cause)}
	case !ask.IsGate(cause) && !isSuperseded(cause) && !(moved.Is(cause) && r.committed()):
		return ending{cause: cause}
	case r.config.onGate(cause) == Hold:
		return ending{cause: cause, hold: true}
	}
	err := r.restore(ctx, cause)
	if isDown(err) || moved.Is(err) {
		return heldFor(cause, err)
	}
	return ending{cause: cause, back: true, failed: err}
}

// heldFor leaves the traffic where it is although a gate has failed, as Knative
// could not route to what it would be rolled back to, or somebody has moved it past Git
// to something else.
func heldFor(cause, down error) ending {
	return ending{cause: fmt.Errorf("%w; not rolled back: %w", cause, down), hold: true}
}

// heldBack tells whether a step was not published because something forbids it:
// nothing speaks against what is there.
func (r *run) heldBack(cause error) bool {
	return guard.Holds(cause) || moved.IsOthers(cause) || source.IsNotYet(cause) || pull.IsUnmerged(cause) || plan.IsUnrendered(cause) || r.forbidden != nil && errors.Is(cause, r.forbidden)
}

// onGate is what a run leaves behind that a gate has stopped.
func (c Config) onGate(cause error) Policy {
	if ask.IsInconclusive(cause) {
		return c.OnInconclusive
	}
	return c.OnFailure
}

// stop ends the steps, and notes whether there is something to roll back. A step that
// the run has not come to may be there by a pull request of an earlier one.
func (p *targetRun) stop() {
	p.journal.Skip()
	p.stays = !p.plan.Restorable() || p.begun == 0 || p.lost != nil
}

// restorable tells whether there is something to roll back, and to what.
func (r *run) restorable() bool {
	return slices.ContainsFunc(r.targets, func(p *targetRun) bool { return !p.stays })
}

// cancel stops where the last commit left the traffic, or rolls it back with
// one commit that is not waited for: the runner gives ten seconds in all.
func (r *run) cancel(ctx context.Context, cause error) ending {
	if r.config.OnCancel != RollBack {
		return ending{cause: cause}
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer stop()
	reversals, err := r.rollBack(ctx, cause, 0)
	if isDown(err) || !r.committed() && (err == nil || isSuperseded(err)) {
		return ending{cause: cause} // the run was cancelled before its first commit
	}
	if err == nil {
		r.announce(ctx, reversals)
	}
	return ending{cause: cause, back: true, failed: err, atOnce: true}
}

// committed tells whether Git shows any step of the plans.
func (r *run) committed() bool {
	return slices.ContainsFunc(r.targets, (*targetRun).committed)
}

func (p *targetRun) committed() bool { return p.journal.Result.Changed || p.resumed() }

// announce makes Argo CD look at a commit, and sync it where nobody else does,
// but does not wait until it is live. Without that it would be seen when Argo
// CD polls, which is minutes later.
func (r *run) announce(ctx context.Context, reversals []*reversal) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), announceTime)
	defer stop()
	err := together(ctx, reversals, func(ctx context.Context, b *reversal) error {
		_, err := r.systems.Cluster.Await(ctx, b.ask.Intent, gate.Verdicts(b.target.journal.Say))
		return err
	})
	if err != nil {
		r.say("not waiting until that is live")
	}
}

// What is left after a cancel for one commit, and for telling Argo CD of it.
const (
	cancelTime   = 5 * time.Second
	announceTime = 2 * time.Second
)

// failedGate is the gate that keeps a promotion from going on; empty: the cause is
// another one.
func failedGate(p *targetRun, cause error) string {
	if !ask.IsGate(cause) || isSuperseded(cause) || errors.Is(cause, context.Canceled) {
		return ""
	}
	for _, step := range slices.Backward(p.journal.Result.Steps) {
		for _, gate := range step.Gates {
			if gate.Name != event.CommitGate && (gate.Progress == event.Broken || gate.Progress == event.Inconclusive) {
				return gate.Name
			}
		}
	}
	return ""
}
