package promote

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/moved"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/record"
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

// heldBack tells whether a step was not published because something forbids it:
// nothing speaks against what is there.
func (r *run) heldBack(cause error) bool {
	return guard.Holds(cause) || moved.IsOthers(cause) || source.IsNotYet(cause) || pull.IsUnmerged(cause) || plan.IsUnusable(cause) || r.forbidden != nil && errors.Is(cause, r.forbidden)
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

// restore rolls a failed promotion back in one commit and waits until that is
// live. The run's own context may be over, this has its own time.
func (r *run) restore(ctx context.Context, cause error) error {
	own, stop := context.WithTimeout(context.WithoutCancel(ctx), 2*r.config.Gates.Wait+r.config.reviewTime())
	defer stop()
	reversals, err := r.rollBack(own, cause, r.config.Gates.Wait)
	if err != nil {
		return err
	}
	// The commit is made. A run that is cancelled has no time to see it live,
	// but Argo CD must look at it.
	defer whenCancelled(ctx, own, r, func() { time.AfterFunc(announceTime, stop) })()
	if err := r.confirm(own, reversals); err != nil {
		return err
	}
	_ = r.close(own, closingsOf(reversals)) // what somebody has made of it since is live after it was rolled back
	return nil
}

// whenCancelled calls cut once somebody cancels the run, also one whose time is
// over, until the returned function is called.
func whenCancelled(ctx, until context.Context, r *run, cut func()) (stop func()) {
	ended := make(chan struct{})
	go func() {
		done := ctx.Done()
		if ctx.Err() != nil && !r.systems.cancelled(ctx) {
			done = nil // its time is over, which is no cancel
		}
		select {
		case <-done:
			if r.systems.cancelled(ctx) {
				cut()
			}
		case <-r.systems.Cancelled:
			cut()
		case <-until.Done():
		case <-ended:
		}
	}()
	return func() { close(ended) }
}

// rollBack commits what was there before the promotion. Patience is how long it waits for a tip that cannot be used.
func (r *run) rollBack(ctx context.Context, cause error, patience time.Duration) ([]*reversal, error) {
	var reversals []*reversal
	var down error
	downs := map[*targetRun]error{}
	for _, p := range r.targets {
		if p.stays {
			continue
		}
		dest, err := p.destinations().Before(ctx, p.plan, p.at.Live)
		if err != nil {
			return nil, err
		}
		if ready := dest.Readiness(); ready.Down() {
			p.stays, down = true, p.named(&downError{dest.Revision, ready})
			downs[p] = down
			continue
		}
		over := append(p.over(), dest.Revision)
		if err := p.notElsewhere(ctx, over, dest.Revision); err != nil {
			return nil, p.named(err)
		}
		back := plan.Reversal{
			Plan: p.plan, Step: record.Restore, Dest: dest, Live: p.at.Live, Reason: cause.Error(), Gate: failedGate(p, cause),
			MayChange: p.plan.ShowsStep,
		}
		back.Plan.FromVersion, back.Plan.Base = dest.Version, dest.Base
		reversals = append(reversals, &reversal{target: p, Reversal: back, over: over})
	}
	if len(reversals) == 0 {
		return nil, down
	}
	for p, why := range downs {
		p.lost = why // the others are rolled back, and the run ends with this one
	}
	for _, b := range reversals {
		b.apart = len(reversals) > 1
	}
	if err := r.reverse(ctx, reversals, patience); err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(reversals), func(b *reversal) bool { return b.target.lost != nil })
	if len(kept) == 0 {
		return nil, reversals[0].target.lost
	}
	return kept, nil
}

// goesOn tells whether what had the traffic before is all that a gate has failed for, and the new revision, which may get all, is Ready.
func goesOn(ctx context.Context, moves []*move, cause error, e ending) bool {
	failed, is := errors.AsType[*ask.GateError](cause)
	if !is || !isDown(e.cause) || !gate.OfService(failed.Gate) {
		return false
	}
	for _, m := range moves {
		to, _ := m.target.service.Readiness(ctx, m.target.at.Live, m.target.plan.To)
		if !m.target.plan.Last(len(m.target.plan.Steps)-1) || to == nil || !to.IsReady() {
			return false
		}
		m.target.journal.Say("revision %s is Ready, and what had the traffic before it is not: going on, to all of it", m.target.plan.To)
	}
	return true
}

// failedGate is the gate that keeps a promotion from going on; empty: the cause is
// another one.
func failedGate(p *targetRun, cause error) string {
	of, ofOne := errors.AsType[*targetError](cause)
	switch {
	case moved.Is(cause) && (!ofOne || of.of == p):
		return gate.Live(0).Name // it is live no more: somebody has judged it
	case !ask.IsGate(cause) || isSuperseded(cause) || errors.Is(cause, context.Canceled):
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

// What is left after a cancel for one commit, and for telling Argo CD of it.
const (
	cancelTime   = 5 * time.Second
	announceTime = 2 * time.Second
)

// noteRollbacks finds out, for those who read how a run ended that leaves its promotion where it is, what a rollback leads
// to now. A run that is cancelled has no time for that.
func noteRollbacks(ctx context.Context, r *run, e ending) ending {
	if !e.back && !r.systems.cancelled(ctx) {
		noteRollback(ctx, false, r.targets...)
	}
	return e
}
