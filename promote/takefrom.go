package promote

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/source"
)

// sourcePoll is how often a source is looked at that is waited for.
const sourcePoll = 5 * time.Second

// takeFrom sets the images of the target to those that run in the environment
// that the run promotes from, and waits for that where it is asked to, unless it only
// plans.
func (p *targetRun) takeFrom(ctx context.Context, tip gitops.Snapshot) error {
	if len(p.From) == 0 {
		return nil
	}
	if r := p.at.Record.Of(p.Place()); r.TakesFrom(p.From, p.at.Now) {
		p.source = r.Source
		p.journal.Tell(event.TakenFrom{Source: p.source})
		p.journal.Say("from: the promotion of what %s had at %.10s is under way and goes on", p.fromAll(), r.Source.Commit)
		return nil
	}
	var said time.Time
	for until := time.Now().Add(p.WaitForSource); ; {
		err := p.takeOnce(ctx, tip)
		if !source.IsNotYet(err) || p.DryRun || !time.Now().Before(until) {
			return err
		}
		if time.Since(said) >= time.Minute {
			said = time.Now()
			p.journal.Say("waiting for up to %s: %v", time.Until(until).Round(time.Second), err)
		}
		if err := sleep.For(ctx, min(sourcePoll, time.Until(until))); err != nil {
			return err
		}
		if tip, err = p.Branch.Tip(ctx); err != nil {
			return err
		}
		if err := p.read(ctx, tip); err != nil {
			return err
		}
		if err := p.observe(ctx, 0); err != nil {
			return err
		}
	}
}

// sources reads the environments that the images come from.
func (p *targetRun) sources() source.Reader {
	return source.Reader{
		Wants:   p.Wants,
		Overlay: p.infra, FromBranch: p.FromBranch, Branch: p.SourceBranch, Cluster: p.SourceCluster, Statuses: p.Statuses,
	}
}

// fromAll names the sources in a sentence.
func (p *targetRun) fromAll() string { return strings.Join(p.From, " and ") }

// takeOnce looks at the sources once.
func (p *targetRun) takeOnce(ctx context.Context, tip gitops.Snapshot) error {
	tip, err := p.sources().Tip(ctx, tip)
	if err != nil {
		return err
	}
	var observed []source.Observed
	for _, from := range p.From {
		one, err := p.sources().See(ctx, tip, from)
		if err != nil {
			return err
		}
		observed = append(observed, one)
	}
	missing := source.AllMissing(observed, p.sources().Wants, time.Now())
	if missing != nil {
		p.journal.Tell(event.SourceNotBefore{Time: missing.Until})
		return missing
	}
	if p.at.Images, err = source.ImagesOfAll(observed, p.at.Now); err != nil {
		return err
	}
	p.noteSources(observed, tip.Commit.Hash)
	if p.at.Next, err = plan.WithImages(ctx, p.at.Now, p.at.Images); err != nil {
		return err
	}
	if err := p.notRolledBack(); err != nil {
		return err
	}
	return p.tellDrift(ctx, observed)
}

// noteSources notes what the images are taken from: the sources as a commit shows them.
func (p *targetRun) noteSources(observed []source.Observed, commit string) {
	p.source, p.sourceServices = record.Source{}, map[string]string{}
	for i, s := range observed {
		one := record.Source{Overlay: s.Overlay, Branch: p.fromBranch(), Commit: commit, Revision: s.Record.To.Revision}
		if i == 0 {
			p.source, p.code = one, s.Record.Code
		} else {
			p.source.With = append(p.source.With, one)
		}
		p.sourceServices[s.Overlay] = s.Service
		p.journal.Say("from: %s runs %s at %.10s, good since %s", one.Overlay, one.Revision, commit, s.Since().UTC().Format(time.RFC3339))
	}
	p.journal.Tell(event.TakenFrom{Source: p.source})
}

// withdrawn is the revision with the images to promote that was rolled back here last;
// empty: there is none, or somebody wants to try them again.
func (p *targetRun) withdrawn() string {
	gone := p.at.Record.Of(p.Place()).Withdrawn(p.at.Next)
	if gone == "" || !p.Guards.PassesOver(guard.OverrideRolledBack) {
		return gone
	}
	p.journal.Override([]string{gone + ", with these images, was rolled back here last"}, p.Reason)
	return ""
}

// notRolledBack keeps what was rolled back here from being promoted again by
// itself, as by a workflow that runs every hour.
func (p *targetRun) notRolledBack() error {
	gone := p.withdrawn()
	if gone == "" {
		return nil
	}
	return &source.NotYetError{From: p.fromAll(), Reason: fmt.Sprintf("%s, with the images that run there, was rolled back here last; to try them again give override: rolled-back and a reason, or promote something newer there", gone)}
}

// notWithdrawn refuses to begin a promotion of the overlay's images as they stand, where
// those were rolled back and could not be taken out of the overlay. A candidate at 0 % is no
// beginning: a pull request's merge may have made it.
func (p *targetRun) notWithdrawn(plan plan.Plan) error {
	if len(p.at.Images) > 0 || p.DryRun || plan.Record.Promotion == plan.ID && plan.Record.HasBegun() {
		return nil
	}
	gone := p.withdrawn()
	if gone == "" {
		return nil
	}
	return setting.Bad("image: unchanged: the overlay %s still has %s, the image of %s, which was rolled back: expected the image that is to run, or override: rolled-back and a reason", p.Overlay, plan.Image, gone)
}

// sourcesStand is why the first commit must not be made on a tip: a source is not
// there any more what was looked at.
func (p *targetRun) sourcesStand(ctx context.Context, tip gitops.Snapshot) error {
	if len(p.From) == 0 {
		return nil
	}
	tip, err := p.sources().Tip(ctx, tip)
	if err != nil {
		return err
	}
	for _, overlay := range p.From {
		if err := p.sources().Stands(ctx, tip, p.source.Of(overlay), p.sourceServices[overlay]); err != nil {
			return err
		}
	}
	return nil
}
