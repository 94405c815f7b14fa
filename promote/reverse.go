package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/live"
)

// reverse commits the destinations and says what must become true. Patience is how long
// it waits for a tip that can be used, and a server that answers.
func (r *run) reverse(ctx context.Context, reversals []*reversal, patience time.Duration) error {
	var edits []commit.Edit
	for _, b := range reversals {
		if e := b.begin(ctx); !b.done {
			edits = append(edits, e)
		}
	}
	p, err := r.commitUsable(ctx, edits, patience)
	drafts := p.drafts
	for _, b := range reversals {
		if err == nil && !b.done {
			b.after, b.target.lost = drafts[0].Reversed, drafts[0].Left
			drafts = drafts[1:]
		}
		if err != nil || b.target.lost != nil {
			b.log.Unseen()
			continue
		}
		if b.done {
			b.log.Committed(b.target.at.Tip.Hash, true)
			continue
		}
		b.log.Committed(p.commit, !p.made)
		b.target.journal.Warn(b.after.Warning(b.Dest))
	}
	for _, b := range reversals {
		if err == nil && b.target.lost == nil {
			err = b.expect(ctx)
		}
	}
	return err
}

// confirm waits until what was rolled back is live. Where another commit of it can be, as
// without targets at 0 % that keep Knative from routing it, it is committed once more, which takes
// its place among the reversals.
func (r *run) confirm(ctx context.Context, reversals []*reversal) error {
	err := r.seeLive(ctx, reversals)
	var again []*reversal
	for i, b := range reversals {
		if b.failed == nil {
			continue
		}
		more := b.onceMore(ctx)
		if more == nil {
			return err
		}
		again, reversals[i] = append(again, more), more
	}
	if err == nil {
		return nil
	}
	if failed := r.reverse(ctx, again, 0); failed != nil {
		return fmt.Errorf("%w; nor could it be committed once more: %w", err, failed)
	}
	return r.seeLive(ctx, again)
}

// seeLive waits until reversals are live.
func (r *run) seeLive(ctx context.Context, reversals []*reversal) error {
	return together(ctx, reversals, func(ctx context.Context, b *reversal) error {
		waiting, stop := ctx, func() {}
		if !b.again {
			waiting, stop = live.WhileRoutable(ctx, b.blocked())
		}
		defer stop()
		if b.failed = b.target.gates.All(waiting, []gate.Gate{gate.Live(r.config.Gates.Wait)}, b.ask, b.log, b.target.saw); b.failed != nil {
			b.log.Unseen()
			b.noteRollback(ctx)
			return b.failed
		}
		if b.failed = b.starts(ctx); b.failed != nil {
			b.log.Unseen()
			return b.failed
		}
		if b.after.Alone = b.ask.Observed.Alone; b.after.Alone != "" {
			b.target.journal.Warn(b.after.Warning(b.Dest))
		}
		b.target.journal.WarnToo(check.HiddenWarning(b.ask.Observed.Service, b.after.State))
		b.log.Passed()
		return nil
	})
}
