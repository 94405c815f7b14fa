package destination

import (
	"cmp"
	"context"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/plan"
)

// Leads is the revision that a rollback of a promotion can lead to once its run has ended; empty:
// none. That is what the run knows, unless Knative cannot route to it. Where somebody else has
// changed the target, the branch's tip tells whether there is still something to roll back.
func (f Finder) Leads(ctx context.Context, p plan.Plan, known string, superseded bool) string {
	was := p.Restores().From.Revision
	if was == "" {
		return known
	}
	if superseded {
		known = f.leadsAtTip(ctx, p, was, known)
	}
	if _, ready := f.Live.Readiness(ctx, f.At.Live, was); known == "" || !ready.Down() {
		return known
	}
	split, err := f.At.Split()
	if err != nil {
		return ""
	}
	f.At.Record = f.At.Record.Of(f.At.Place())
	further, _ := f.LastGood(ctx, was, split) // then there is none
	return further.Revision
}

// leadsAtTip is what a rollback leads to by the branch's tip: nowhere, where another run's rollback gives all
// traffic to what was there before the promotion, and waits for that. Where it has the promotion's revision, it leads to what was
// before also once the run has rolled back. What cannot be read changes nothing.
func (f Finder) leadsAtTip(ctx context.Context, p plan.Plan, was, known string) string {
	tip, err := f.Overlay.Branch.Tip(ctx)
	if err != nil {
		return known
	}
	at, err := f.Overlay.Situation(ctx, tip)
	if err != nil {
		return known
	}
	split, err := at.Split()
	traffic, _ := at.Now.Traffic() // as the split has read it
	switch {
	case err == nil && at.Record.RollsBack() && split.Stable == was && split.Candidate == "":
		return ""
	case knative.Shares(traffic)[p.To] > 0, split.Candidate == p.To:
		return cmp.Or(known, was)
	}
	return known
}
