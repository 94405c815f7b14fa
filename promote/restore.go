package promote

import (
	"context"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

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

// rollBack commits what was there before the promotion. Patience is how long it waits for
// a tip that does not render.
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
