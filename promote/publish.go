package promote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// The trailers of a promotion's commits repeat the record for people who read
// the log. Nothing reads them back.
const (
	trailerID      = "Promotion"
	trailerService = "Promotion-Service"
	trailerOverlay = "Promotion-Overlay"
	trailerStep    = "Promotion-Step"
	trailerImage   = "Promotion-Image"
	trailerFrom    = "Promotion-From"
	trailerTo      = "Promotion-To"
	trailerBase    = "Promotion-Base"
	trailerRun     = "Promotion-Run"
	trailerActor   = "Promotion-Actor"
	trailerPassed  = "Promotion-Passed"
)

// TrailerReason is the trailer that says in words why a commit was made.
const TrailerReason = "Promotion-Reason"

// publish commits the i-th step and returns the commit that shows it.
func (p *Promotion) publish(ctx context.Context, plan Plan, i int) (string, error) {
	step := plan.Steps[i]
	var commit string
	var err error
	if step.Done {
		commit = plan.tip
		p.committedAs(commit, true)
	} else {
		commit, err = p.commit(ctx, gitops.Change{
			Subject:  step.Subject,
			Trailers: p.trailers(plan, stepOf(step.Percent), plan.From, plan.To, p.Reason),
			Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
				return p.edit(ctx, plan, i, tip)
			},
		})
	}
	if err == nil {
		p.result.Traffic = step.Traffic
	}
	return commit, err
}

// commit publishes a change. One that a tip shows already is that tip, and not
// what the branch has come to since.
func (p *Promotion) commit(ctx context.Context, change gitops.Change) (string, error) {
	edit, tip := change.Edit, gitops.Commit{}
	change.Edit = func(on gitops.Snapshot) (map[string][]byte, error) {
		if tip.Hash != "" {
			p.say("the branch has moved to %.10s, making the same edit again", on.Commit.Hash)
		}
		tip = on.Commit
		return edit(on)
	}
	commit, err := p.Branch.Publish(ctx, change)
	if errors.Is(err, gitops.ErrUnchanged) {
		p.committedAs(tip.Hash, true)
		return tip.Hash, nil
	}
	if err != nil {
		return "", err
	}
	p.committedAs(commit.Hash, false)
	return commit.Hash, nil
}

// edit is the i-th step on a tip. It is run again when the branch has moved:
// the tip must show the step before, or this one already.
func (p *Promotion) edit(ctx context.Context, plan Plan, i int, tip gitops.Snapshot) (map[string][]byte, error) {
	now, err := knative.Read(ctx, tip.Tree, p.Overlay, p.Service)
	if err != nil {
		return nil, err
	}
	next, err := p.next(ctx, now)
	if err != nil {
		return nil, err
	}
	record, err := parseRecord(now.Record())
	if err != nil {
		return nil, superseded(tip.Commit, "%w", unreadable(now, err))
	}
	if done, err := fits(now, next, record, plan, i, tip.Commit); err != nil || done {
		return nil, err
	}
	step := plan.Steps[i]
	text, err := p.record(plan, stepOf(step.Percent), record).encode()
	if err != nil {
		return nil, err
	}
	after, err := next.Route(ctx, plan.To, step.Traffic, text, p.live)
	if err != nil {
		return nil, err
	}
	intent := knative.Intent{Images: p.Images, Also: p.Also, Revision: plan.To, Traffic: step.Traffic}
	if err := knative.Check(now, after, intent); err != nil {
		return nil, err
	}
	return after.Files()
}

// record is what a step's commit says, on top of what the overlay said before.
func (p *Promotion) record(plan Plan, step string, before Record) Record {
	r := Record{
		Promotion: plan.ID, Overlay: p.Overlay, Step: step, Percent: shareOf(step), To: plan.to, From: plan.from, Base: plan.Base,
		Started: p.result.Started, Run: p.RunURL, Actor: p.Actor, Source: p.SourceCommit, Past: before.of(p.Overlay).after(),
	}
	if before.Promotion == plan.ID {
		r.Started, r.Past = before.Started, before.Past
	}
	return r
}

// fits tells whether a tip shows the i-th step already. It must show that or
// the step before, by the record and by the fields, else somebody else has
// changed it and theirs stays.
func fits(now, next *knative.State, record Record, plan Plan, i int, tip gitops.Commit) (done bool, err error) {
	name, err := next.NextRevision()
	if err != nil {
		return false, err
	}
	same := now.SameTemplate(next)
	before := i == 0 && unchanged(now, plan.now) && record.is(plan.record.Promotion, plan.record.Step) ||
		i > 0 && plan.expected(plan.Steps[i-1]).shownBy(now, record)
	switch {
	case name != plan.To:
		return false, superseded(tip, "the template of %s changed to %s while %s was promoted", now.Service(), name, plan.To)
	case same && plan.expected(plan.Steps[i]).shownBy(now, record):
		return true, nil
	case i > 0 && !same:
		return false, superseded(tip, "the overlay now has the images %s", strings.Join(append(now.Images(), now.InitImages()...), ", "))
	case !before && record.Promotion == plan.ID:
		return false, superseded(tip, "another run of the same promotion is ahead, with %s", describe(now))
	case !before:
		return false, superseded(tip, "the overlay now has revision %s with %s", orGenerated(now.Revision()), describe(now))
	}
	return false, nil
}

// describe is an overlay's traffic in words.
func describe(state *knative.State) string {
	traffic, err := state.Traffic()
	if err != nil {
		return "traffic that cannot be read"
	}
	return knative.Describe(traffic)
}

// trailers say in a commit what it is part of.
func (p *Promotion) trailers(plan Plan, step, from, to, reason string) []gitops.Trailer {
	all := []gitops.Trailer{
		{Key: trailerID, Value: plan.ID}, {Key: trailerService, Value: p.Service}, {Key: trailerOverlay, Value: p.Overlay},
		{Key: trailerStep, Value: step}, {Key: trailerImage, Value: plan.Image},
		{Key: trailerFrom, Value: from}, {Key: trailerTo, Value: to}, {Key: trailerBase, Value: plan.Base},
		{Key: trailerRun, Value: p.RunURL}, {Key: trailerActor, Value: p.Actor}, {Key: TrailerReason, Value: reason},
	}
	return slices.DeleteFunc(all, func(t gitops.Trailer) bool { return t.Value == "" })
}

// shows tells whether an overlay has this revision and traffic.
func shows(state *knative.State, revision string, traffic []servingv1.TrafficTarget) bool {
	has, err := state.Traffic()
	return err == nil && state.Revision() == revision && knative.SameTraffic(has, traffic)
}

// unchanged tells whether an overlay is as it was when the plan was made.
func unchanged(now, then *knative.State) bool {
	traffic, err := then.Traffic()
	return err == nil && now.SameTemplate(then) && shows(now, then.Revision(), traffic)
}

func superseded(by gitops.Commit, format string, args ...any) error {
	return fmt.Errorf("%w by commit %.10s (%s): %w", ErrSuperseded, by.Hash, by.Subject, fmt.Errorf(format, args...))
}

func orGenerated(revision string) string {
	if revision == "" {
		return "(generated)"
	}
	return revision
}
