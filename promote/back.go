package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// A destination is what going back leads to: an earlier version and who gets
// the traffic.
type destination struct {
	Version
	state   *knative.State // the overlay that had it; nil: only the record tells of it
	traffic []servingv1.TrafficTarget
	live    func() (*servingv1.Revision, error) // the revision in the cluster, asked for once
	gone    bool                                // it is not there any more
}

// goingBack is one commit that takes something back.
type goingBack struct {
	plan      Plan
	step      string // restore or rollback
	dest      destination
	reason    string
	mayChange func(now *knative.State, record Record) bool

	after       *knative.State // what the last edit led to
	trafficOnly bool           // it could not take the template back
}

// goTo commits a destination and says what must become true.
func (p *Promotion) goTo(ctx context.Context, back *goingBack) (*Position, error) {
	plan := back.plan
	plan.Image = firstOf(back.dest.Images)
	what := "back to " + short(p.Service, back.dest.Revision) + " (" + version(plan.Image) + ")"
	subject := strings.TrimSpace(p.Service+" "+p.Environment) + ": " + what
	p.result.Steps = append(p.result.Steps, StepResult{Name: back.step, Title: subject, Progress: Running, Started: time.Now()})
	p.report()
	commit, err := p.commit(ctx, gitops.Change{
		Subject:  subject,
		Trailers: p.trailers(plan, back.step, plan.To, back.dest.Revision, back.reason),
		Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
			if err := p.editBack(ctx, back, tip); err != nil {
				return nil, err
			}
			return back.after.Files()
		},
	})
	if err != nil {
		return nil, err
	}
	return p.positionOf(commit, back.step, back.after, back.trafficOnly)
}

// positionOf is where the gates are asked of a commit that took something back.
func (p *Promotion) positionOf(commit, step string, state *knative.State, trafficOnly bool) (*Position, error) {
	traffic, err := state.Traffic()
	if err != nil {
		return nil, err
	}
	p.result.Traffic = traffic
	record, _ := parseRecord(state.Record()) // without one the fields tell
	want := expected{
		Version: versionOf(state.Revision(), state), promotion: record.Promotion, step: record.Step, traffic: traffic, trafficOnly: trafficOnly,
	}
	return &Position{Step: Change{Name: step, Percent: 100}, Commit: commit, Intent: p.intent(commit, want), promotion: record.Promotion}, nil
}

// editBack edits a tip to the destination. Where the template cannot be taken
// back, the traffic alone goes to the old revision.
func (p *Promotion) editBack(ctx context.Context, back *goingBack, tip gitops.Snapshot) error {
	now, err := knative.Read(ctx, tip.Tree, p.Overlay, p.Service)
	if err != nil {
		return err
	}
	record, err := parseRecord(now.Record())
	before := record
	if err != nil {
		before = back.plan.record // nothing that somebody wrote into it may stop going back
	}
	back.trafficOnly, p.result.Warning = false, ""
	back.after, err = p.takenBack(ctx, back, now, before)
	if err != nil && ctx.Err() == nil {
		refused := err
		if back.after, err = p.trafficBack(ctx, back, now, before); err != nil {
			return fmt.Errorf("%w; nor can the traffic alone: %w", refused, err)
		}
		back.trafficOnly = true
		p.result.Warning = fmt.Sprintf("the overlay's template could not be taken back, only the traffic goes to %s: %v", back.dest.Revision, refused)
		p.say("%s", p.result.Warning)
	}
	if err != nil {
		return err
	}
	switch traffic, err := back.after.Traffic(); {
	case err != nil:
		return err
	case shows(now, back.after.Revision(), traffic) && now.SameTemplate(back.after):
		back.after = now
	case !back.mayChange(now, record):
		return superseded(tip.Commit, "the overlay now has revision %s with %s", orGenerated(now.Revision()), describe(now))
	}
	return nil
}

// takenBack is an overlay with the template and the traffic of the destination.
// The template gets the old revision's name only if it is the old template;
// somebody may have changed the base since, and Knative would refuse that under
// the old name.
func (p *Promotion) takenBack(ctx context.Context, back *goingBack, now *knative.State, record Record) (*knative.State, error) {
	dest := back.dest
	next, err := dest.imagesOn(ctx, now)
	if err != nil {
		return nil, err
	}
	revision, traffic := dest.Revision, dest.traffic
	same, err := dest.madeOf(next, p.live)
	if err != nil {
		return nil, err
	}
	if !same {
		if revision, err = next.NextRevision(); err != nil {
			return nil, err
		}
		if dest.gone {
			traffic = retarget(traffic, dest.Revision, revision)
		}
	}
	text, err := p.backRecord(back, next, traffic, record).encode()
	if err != nil {
		return nil, err
	}
	var after *knative.State
	// The old files are taken where they say just what is wanted, so that the
	// overlay is as it was, byte for byte, but for the record.
	if same && dest.state != nil && dest.state.Owned() && shows(dest.state, revision, traffic) {
		after, err = next.RestoreRoute(ctx, dest.state, text)
	} else {
		after, err = next.Route(ctx, revision, traffic, text, p.live)
	}
	if err != nil {
		return nil, err
	}
	return after, knative.Check(now, after, knative.Intent{Also: p.Also, Revision: revision, Traffic: traffic})
}

// trafficBack is an overlay with the traffic of the destination and the
// template as it is.
func (p *Promotion) trafficBack(ctx context.Context, back *goingBack, now *knative.State, record Record) (*knative.State, error) {
	if back.dest.gone {
		return nil, fmt.Errorf("revision %s no longer exists", back.dest.Revision)
	}
	if now.Revision() == "" {
		return nil, errors.New("the template has no name that could stay")
	}
	text, err := p.backRecord(back, now, back.dest.traffic, record).encode()
	if err != nil {
		return nil, err
	}
	after, err := now.Route(ctx, now.Revision(), back.dest.traffic, text, p.live)
	if err != nil {
		return nil, err
	}
	return after, knative.Check(now, after, knative.Intent{Also: p.Also, Revision: now.Revision(), Traffic: back.dest.traffic})
}

// backRecord is what the commit says: a promotion that was taken back stays the
// one that it was, a rollback is one of its own.
func (p *Promotion) backRecord(back *goingBack, next *knative.State, traffic []servingv1.TrafficTarget, before Record) Record {
	r := p.record(back.plan, back.step, before)
	if back.step == stepRollback {
		r.To, r.From = versionOf(carrying(traffic), next), back.plan.from
		if r.To.Revision == back.dest.Revision {
			r.To = back.dest.Version // the overlay's images need not be its own, where only the traffic goes back
		}
	}
	return r
}

// carrying is the revision that has all traffic.
func carrying(traffic []servingv1.TrafficTarget) string {
	for _, t := range traffic {
		if knative.Percent(t) == 100 {
			return t.RevisionName
		}
	}
	return ""
}

// imagesOn is an overlay with the destination's images.
func (d destination) imagesOn(ctx context.Context, now *knative.State) (*knative.State, error) {
	if d.state != nil {
		return now.RestoreImages(ctx, d.state)
	}
	return now.SetContainers(ctx, d.Images, d.InitImages)
}

// madeOf tells whether the revision was made of an overlay's template. Somebody
// may have changed that: under the revision's name, which Knative has refused,
// or under none, and Argo CD has not looked yet. The name tells the former, and
// only the live revision, which is not asked for otherwise, the latter.
func (d destination) madeOf(next *knative.State, live *servingv1.Service) (bool, error) {
	made, known, err := next.Made(d.Revision)
	switch {
	case err != nil || known:
		return made, err
	case d.state != nil && !next.SameTemplate(d.state):
		return false, nil
	}
	found, err := d.live()
	if err != nil {
		return true, nil // nothing speaks against it
	}
	return orState(d.state, next).Fits(found, live)
}

// liveOnce asks the cluster for a revision, once and only when it is needed.
func (p *Promotion) liveOnce(ctx context.Context, name string) func() (*servingv1.Revision, error) {
	return sync.OnceValues(func() (*servingv1.Revision, error) { return p.liveRevision(ctx, name) })
}

// retarget names another revision in the traffic.
func retarget(traffic []servingv1.TrafficTarget, from, to string) []servingv1.TrafficTarget {
	traffic = slices.Clone(traffic)
	for i := range traffic {
		if traffic[i].RevisionName == from {
			traffic[i].RevisionName = to
		}
	}
	return traffic
}

func firstOf(images []string) string {
	if len(images) == 0 {
		return ""
	}
	return images[0]
}
