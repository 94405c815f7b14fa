package promote

import (
	"context"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/review"
)

// pulls are the pull requests of the target.
func (p *targetRun) pulls() pull.Requests {
	return pull.Requests{Reviews: p.systems.Reviews, Mode: p.config.Mode, RunURL: p.config.RunURL, Overlay: p.infra, Journal: p.journal}
}

// reviewTime is how much longer a rollback takes that people review.
func (c Config) reviewTime() time.Duration {
	if c.Mode != review.Every {
		return 0
	}
	return c.MergeTimeout
}

// adopts tells whether a proposal's head has the record that the step would write on
// the tip, but for who wrote it and when.
func (m *move) adopts(tip, head gitops.Snapshot) (bool, error) {
	return pull.WouldWrite(plan.StepRecord(m.target.config.Settings, m.target.plan, record.StepOf(m.step().Percent), plan.RecordAt(tip, m.target.Target)), plan.RecordAt(head, m.target.Target))
}

// adopts tells the same of a proposal that rolls back.
func (b *reversal) adopts(ctx context.Context, tip, head gitops.Snapshot) (bool, error) {
	if b.leavesOut {
		return false, nil // its record does not tell it from the commit before
	}
	after, err := b.edited(ctx, tip)
	if err != nil {
		return false, err
	}
	want, err := record.Parse(after.State.Record())
	if err != nil {
		return false, err
	}
	return pull.WouldWrite(want, plan.RecordAt(head, b.target.Target))
}
