package promote

import (
	"context"
	"fmt"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/source"
)

// OnDrift is what a promotion does about configuration that its source has and the
// target has not. The zero value is DriftWarn.
type OnDrift string

// The choices of on-config-drift.
const (
	DriftWarn OnDrift = "warn" // it is told
	DriftFail OnDrift = "fail" // the promotion does not begin
)

// tellDrift says what configuration the sources have and the target has not, and
// keeps the promotion from beginning where that is asked for.
func (p *targetRun) tellDrift(ctx context.Context, observed []source.Observed) error {
	var all *source.NotYetError
	var drifts []event.Drift
	for _, one := range observed {
		d, unknown := p.sources().Drift(ctx, one, p.at.Record.Of(p.Place()).Source.Of(one.Overlay), p.at.Now)
		if err := ctx.Err(); err != nil {
			return err
		}
		if unknown != nil {
			p.journal.Say("from: what has changed in %s since the last promotion is not known: %v", d.From, unknown)
		}
		lines := d.Words()
		if len(lines) == 0 {
			continue
		}
		drifts = append(drifts, d)
		all = all.And(drifted(d.From, lines))
	}
	p.journal.Tell(event.Drifted{All: drifts})
	if p.OnDrift != DriftFail || all == nil {
		return nil
	}
	return all
}

// drifted is the error of what drifts, where that is not to be.
func drifted(from string, lines []string) *source.NotYetError {
	reason := fmt.Sprintf("it has configuration that is not so here (on-config-drift is fail): %s", lines[0])
	if more := len(lines) - 1; more > 0 {
		reason += fmt.Sprintf("; and %d more, which the log has", more)
	}
	return &source.NotYetError{From: from, Reason: reason}
}
