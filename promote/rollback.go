package promote

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
)

// Rollback takes the Service back in one commit and without steps: to the
// promotion before, to a named revision or to a commit. It works in the
// middle of a promotion too, whose run then ends as superseded. One that was
// stopped before it was seen live is confirmed, and nothing gone back from once
// more.
func (p *Promotion) Rollback(ctx context.Context) (Result, error) {
	p.begin(commandRollback)
	p.result.Reason = p.Reason
	p.Images = nil
	at, err := p.look(ctx)
	if err != nil && !p.goesOn(err, at) {
		return p.end(p.endOf(ctx, err), err)
	}
	split, err := at.split(p.Config)
	if err != nil {
		return p.end(Failed, err)
	}
	if p.goneBack(at, split) {
		return p.confirmBack(ctx, at, split)
	}
	dest, err := p.target(ctx, at, split)
	if err != nil {
		return p.end(Failed, err)
	}
	back := &goingBack{
		step: stepRollback, dest: dest, reason: p.Reason,
		mayChange: func(now *knative.State, _ Record) bool { return unchanged(now, at.Now) },
	}
	if err := p.planBack(ctx, at, back); err != nil {
		return p.end(p.endOf(ctx, err), err)
	}
	if p.DryRun {
		return p.end(Unchanged, nil)
	}
	return p.goBack(ctx, at, split, back)
}

// goBack commits the rollback and waits until it is live. One that only takes a
// candidate without traffic away says so.
func (p *Promotion) goBack(ctx context.Context, at Situation, split knative.Split, back *goingBack) (Result, error) {
	position, err := p.goTo(ctx, back)
	if err != nil {
		p.current().Progress = Broken
		return p.end(p.endOf(ctx, err), err)
	}
	if err := p.confirm(ctx, position); err != nil {
		return p.end(p.notConfirmed(ctx, err))
	}
	changed := p.result.Changed
	p.closeStep(ctx, position.promotion, stepRollback)
	switch {
	case !p.result.Changed:
		return p.end(Unchanged, nil)
	case changed && !moved(at.Now, p.result.Traffic):
		p.addReason("no traffic has moved: %s had all of it", back.dest.Revision)
		if split.Candidate == "" {
			return p.end(Unchanged, nil)
		}
	}
	return p.end(RolledBack, nil)
}

// addReason adds to why the run ended so.
func (p *Promotion) addReason(format string, args ...any) {
	p.result.Reason = strings.TrimPrefix(p.result.Reason+"; "+fmt.Sprintf(format, args...), "; ")
	p.say(format, args...)
}

// notConfirmed is the end of a rollback whose commit is made, but was not seen
// live.
func (p *Promotion) notConfirmed(ctx context.Context, err error) (Status, error) {
	if p.cancelled(ctx) {
		return Cancelled, fmt.Errorf("the commit is made, but the run was cancelled before it was seen live: %w", err)
	}
	return Failed, &RestoreError{Err: err}
}

// moved tells whether the share of some revision is another one now.
func moved(before *knative.State, now []servingv1.TrafficTarget) bool {
	was, err := before.Traffic()
	if err != nil {
		return true
	}
	share := map[string]int{}
	for _, t := range was {
		share[t.RevisionName] += knative.Percent(t)
	}
	if len(was) == 0 {
		share[""] = 100
	}
	for _, t := range now {
		share[t.RevisionName] -= knative.Percent(t)
	}
	for _, difference := range share {
		if difference != 0 {
			return true
		}
	}
	return false
}

// goesOn tells whether an emergency may pass over what the look at the live
// Service brought: a Service without a ready revision, or an Argo CD that does
// not answer. What is wrong with the inputs or the repository may not.
func (p *Promotion) goesOn(err error, at Situation) bool {
	if at.Now == nil || at.Next == nil || errors.Is(err, argo.ErrAuth) || errors.Is(err, argo.ErrNotFound) ||
		errors.Is(err, context.Canceled) || isSuperseded(err) {
		return false
	}
	p.say("going on without the live Service: %v", err)
	return true
}

// endOf is the status of a rollback that could not be committed.
func (p *Promotion) endOf(ctx context.Context, err error) Status {
	switch {
	case isSuperseded(err):
		return Superseded
	case p.cancelled(ctx):
		return Cancelled
	}
	return Failed
}

// goneBack tells whether Git shows a commit already that took something back
// and that is still to be seen live, or this workflow run's own from an attempt
// before. Without a name for where to, going back once more would be further
// than anybody asked for.
func (p *Promotion) goneBack(at Situation, split knative.Split) bool {
	r := at.Record
	own := p.RunAgain && r.Step == stepRollback && r.Run != "" && r.Run == p.RunURL
	return p.To == "" && at.Unreadable == nil && r.takesBack() && (!r.passed() || own) && r.disagreement(p.Overlay, split) == ""
}

// confirmBack waits until a commit that took something back is live.
func (p *Promotion) confirmBack(ctx context.Context, at Situation, split knative.Split) (Result, error) {
	r := &p.result
	r.Promotion, r.Revision, r.PreviousRevision = at.Record.Promotion, split.Stable, at.Record.From.Revision
	r.Image, r.Before, r.After = headline(at.Now, at.Now), at.Now.Manifest, at.Now.Manifest
	if at.Record.Step == stepRestore {
		r.PreviousRevision = at.Record.To.Revision
	}
	p.say("%s has gone back to %s already, with a commit that is in Git", p.Service, split.Stable)
	if p.DryRun {
		return p.end(Unchanged, nil)
	}
	r.Steps = append(r.Steps, StepResult{Name: at.Record.Step, Title: "back to " + short(p.Service, split.Stable), Progress: Running, Started: time.Now()})
	p.committedAs(at.Tip.Hash, true)
	position, err := p.positionOf(at.Tip.Hash, at.Record.Step, at.Now, at.Record.templateStays(at.Now))
	if err != nil {
		return p.end(Failed, err)
	}
	if err := p.confirm(ctx, position); err != nil {
		return p.end(p.notConfirmed(ctx, err))
	}
	if at.Record.passed() {
		return p.end(Unchanged, nil)
	}
	p.closeStep(ctx, at.Record.Promotion, at.Record.Step)
	return p.end(RolledBack, nil)
}

// templateStays tells whether the overlay still has the template that was to be
// taken back, because only the traffic could be.
func (r Record) templateStays(state *knative.State) bool {
	away := r.From
	if r.Step == stepRestore {
		away = r.To
	}
	return state.Revision() == away.Revision
}

// planBack notes what a rollback moves in the Result. The overlay that it
// leads to is not the earlier one: the target previous goes, for one.
func (p *Promotion) planBack(ctx context.Context, at Situation, back *goingBack) error {
	plan := Plan{Base: at.Tip.Hash, From: back.dest.Revision, To: at.Now.Revision(), now: at.Now, record: at.Record}
	plan.from = versionOf(plan.To, at.Now)
	plan.ID = id(p.Config, Plan{Base: plan.Base, To: back.dest.Revision}, Record{Step: stepRollback})
	back.plan = plan
	dry := *back
	dry.mayChange = func(*knative.State, Record) bool { return true }
	if err := p.editBack(ctx, &dry, gitops.Snapshot{Commit: at.Tip, Tree: at.Tree}); err != nil {
		return err
	}
	r := &p.result
	r.Promotion, r.Revision, r.PreviousRevision = plan.ID, back.dest.Revision, plan.To
	r.Image, r.PreviousImage = firstOf(back.dest.Images), headline(at.Now, at.Now)
	r.Before, r.After, r.Traffic = at.Now.Manifest, dry.after.Manifest, back.dest.traffic
	if back.dest.gone {
		p.addReason("revision %s no longer exists, it is created again from Git", back.dest.Revision)
	}
	return nil
}

func orLatest(revision string) string {
	if revision == "" {
		return "the latest revision"
	}
	return revision
}
