package promote

import (
	"context"
	"maps"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/journal"
)

// noteRollbacks finds out, for those who read how a run ended that leaves its
// promotion where it is, what a rollback leads to now. A run that is cancelled has no
// time for that.
func noteRollbacks(ctx context.Context, r *run, e ending) ending {
	if e.back || r.systems.cancelled(ctx) {
		return e
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), emergencyLook)
	defer stop()
	for _, p := range r.targets {
		p.noteRollback(ctx)
	}
	return e
}

// noteRollback asks whether Knative can route to what the promotion began from, and
// which version a rollback goes on to where it cannot.
func (p *targetRun) noteRollback(ctx context.Context) {
	was := p.plan.Restores().From.Revision
	if _, ready := p.service.Readiness(ctx, p.at.Live, was); was == "" || !ready.Down() {
		return
	}
	p.journal.Tell(event.RollbackLeads{})
	split, err := p.at.Split()
	if err != nil {
		return
	}
	find := p.destinations()
	find.At.Record = find.At.Record.Of(p.Place())
	if dest, err := find.LastGood(ctx, was, split); err == nil {
		p.journal.Tell(event.RollbackLeads{To: dest.Revision})
	}
}

// noteRollback looks whether the revision that a commit has rolled back to is not
// Ready, or somebody has moved the Service since. The traffic stays as it is then: whoever
// has most of it is the one that Git can still give all of it to.
func (b *reversal) noteRollback(ctx context.Context) {
	seen, err := b.target.service.Observe(ctx, emergencyLook)
	if err != nil || seen.Service == nil {
		return
	}
	b.target.journal.Tell(journal.SeenLive(seen, b.target.at.Tag))
	if _, ready := b.target.service.Readiness(ctx, seen.Service, b.Dest.Revision); !ready.Down() && b.ask.Observed.Moved.Service == "" {
		return
	}
	most, shares := 0, knative.Shares(seen.Service.Status.Traffic)
	for _, name := range slices.Sorted(maps.Keys(shares)) {
		if share := shares[name]; share > most && name != b.Dest.Revision && b.target.service.Why(ctx, seen.Service, name) == "" {
			most = share
			b.target.journal.Tell(event.RollbackLeads{To: name})
		}
	}
}
