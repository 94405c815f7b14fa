package promote

import (
	"context"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/moved"
)

// moved compares the live Service with what Git says.
func (p *targetRun) moved() moved.Reader {
	return moved.Reader{Overlay: p.infra, Service: p.service}
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

// notElsewhere refuses to roll a failed promotion back where somebody has moved the
// traffic to what neither Git had before nor the promotion leads from and to.
func (p *targetRun) notElsewhere(ctx context.Context, over []string, leads string) error {
	if seen, err := p.service.Observe(ctx, live.PatienceOf(ctx)); err == nil {
		p.saw(seen)
	}
	err := p.moved().Elsewhere(ctx, p.at, p.journal.Result.Commit, over, leads)
	if served := p.at.Live; moved.Is(err) && served != nil && knative.Shares(served.Status.Traffic)[live.Serving(served)] == 100 {
		p.journal.Tell(event.RollbackLeads{To: live.Serving(served)}) // so that the command leaves users where somebody wants them
	}
	return err
}

// leadsOn refuses a rollback without a name for where to that would undo what somebody has
// made of the Service past Git.
func (p *targetRun) leadsOn(ctx context.Context, git knative.Split, leads string) error {
	if p.config.To != "" {
		return nil
	}
	found, err := p.moved().Unnamed(ctx, p.at, git, leads)
	if found != "" {
		p.journal.Explain("%s", found)
	}
	return err
}
