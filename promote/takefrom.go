package promote

import (
	"context"
	"fmt"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/sleep"
)

// sourcePoll is how often a source is looked at that is waited for.
const sourcePoll = 5 * time.Second

// SourceCluster is the environment that images come from, as its Argo CD shows it,
// which need not be the target's.
type SourceCluster interface {
	// Applications are those that deploy a folder of the infra repository.
	Applications(ctx context.Context, source argo.Source) ([]argo.App, error)
	Check(context.Context, argo.Intent) (argo.Verdict, argo.Observed, error)
}

// Statuses are those that a forge shows beside the commits of the infra repository.
type Statuses interface {
	// States are the states of a commit's statuses, by their names.
	States(ctx context.Context, commit string) (map[string]string, error)
}

// takeFrom sets the images of the part to those that run in the environment
// that the run promotes from, and waits for that where it is asked to.
func (p *part) takeFrom(ctx context.Context, tip gitops.Snapshot) error {
	if p.From == "" {
		return nil
	}
	if r := p.at.Record.of(p.Overlay); r.takesFrom(p.From, p.at.Now) {
		p.source = r.Source
		p.journal.takes(p.source)
		p.journal.say("from: the promotion of what %s had at %.10s is under way and goes on", r.Source.Overlay, r.Source.Commit)
		return nil
	}
	for until := time.Now().Add(p.WaitForSource); ; {
		err := p.takeOnce(ctx, tip)
		if !isNotYet(err) || !time.Now().Before(until) {
			return err
		}
		p.journal.say("waiting: %v", err)
		if err := sleep.For(ctx, min(sourcePoll, time.Until(until))); err != nil {
			return err
		}
		if tip, err = p.Branch.Tip(ctx); err != nil {
			return err
		}
		if err := p.read(ctx, tip); err != nil {
			return err
		}
		if err := p.look(ctx, 0); err != nil {
			return err
		}
	}
}

// takeOnce looks at the source once.
func (p *part) takeOnce(ctx context.Context, tip gitops.Snapshot) error {
	sight, err := p.seeSource(ctx, tip)
	if err != nil {
		return err
	}
	if missing := sight.missing(p.Config, time.Now()); missing != nil {
		p.journal.notBefore(missing.Until)
		return missing
	}
	if p.Images, err = imagesFrom(sight, p.at.Now); err != nil {
		return err
	}
	p.sourceService = sight.Service
	p.source = Source{Overlay: p.From, Commit: tip.Commit.Hash, Revision: sight.Record.To.Revision}
	p.journal.takes(p.source)
	p.journal.say("from: %s runs %s at %.10s, good since %s", p.From, p.source.Revision, p.source.Commit, sight.since().UTC().Format(time.RFC3339))
	if p.at.Next, err = withImages(ctx, p.at.Now, p.Images); err != nil {
		return err
	}
	if err := p.notRolledBack(); err != nil {
		return err
	}
	return p.tellDrift(ctx, sight)
}

// notRolledBack keeps what was rolled back here from being promoted again by
// itself, as by a workflow that runs every hour.
func (p *part) notRolledBack() error {
	r := p.at.Record.of(p.Overlay)
	next, err := p.at.Next.NextRevision()
	if err != nil || !r.rollsBack() || next != r.rolledBackFrom() {
		return err
	}
	return &NotYetError{From: p.From, Reason: fmt.Sprintf("%s, which is what runs there, was rolled back here last; to try it again give image, or promote something newer there", next)}
}

// sourceInfra reads the source's overlay, of the Service that has the target's name.
func (p *part) sourceInfra() infra {
	from := p.Target
	from.Overlay, from.Environment, from.Source.Path = p.From, "", p.From
	source := p.infraOf(from)
	source.input = "from"
	return source
}

// sourceStands is why the first commit must not be made on a tip: the source is
// not there any more what was looked at.
func (p *part) sourceStands(ctx context.Context, tip gitops.Snapshot) error {
	source := p.sourceInfra()
	source.Service = p.sourceService
	at, err := source.situation(ctx, tip)
	if err != nil {
		return err
	}
	reason := sourceSight{Situation: at}.unfinished(p.Config)
	if reason == "" && at.Record.To.Revision != p.source.Revision {
		reason = fmt.Sprintf("it has come from %s to %s meanwhile", p.source.Revision, at.Record.To.Revision)
	}
	if reason == "" {
		return nil
	}
	return &NotYetError{From: p.From, Reason: reason}
}

// seeSource reads the source's overlay, and asks its Applications.
func (p *part) seeSource(ctx context.Context, tip gitops.Snapshot) (sourceSight, error) {
	source := p.sourceInfra()
	at, err := source.situation(ctx, tip)
	if err != nil && source.Service != "" { // it may have a name of its own there
		source.Service = ""
		at, err = source.situation(ctx, tip)
	}
	if err != nil {
		return sourceSight{}, err
	}
	sight := sourceSight{Situation: at}
	if sight.unfinished(p.Config) != "" {
		return sight, nil
	}
	if p.SourceCluster == nil {
		return sight, fmt.Errorf("from: %w", errNoCluster)
	}
	apps, err := p.SourceCluster.Applications(ctx, at.Source)
	if err != nil {
		return sight, fmt.Errorf("from: %w", err)
	}
	want := expected{Version: at.Record.To, promotion: at.Record.Promotion, step: at.Record.Step}
	if want.traffic, err = at.Now.Traffic(); err != nil {
		return sight, err
	}
	for _, app := range apps {
		source.Target = at.Target
		source.App = app
		verdict, seen, err := p.SourceCluster.Check(ctx, source.intent(tip.Commit.Hash, want))
		if err != nil {
			return sight, fmt.Errorf("from: %w", err)
		}
		sight.apps = append(sight.apps, appSight{app, verdict, seen})
	}
	if len(p.Checks) > 0 && at.Record.Commit != "" {
		if sight.states, err = p.Statuses.States(ctx, at.Record.Commit); err != nil {
			return sight, fmt.Errorf("from: checks: %w", err)
		}
	}
	return sight, nil
}
