package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/ask"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/commit"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/journal"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/moved"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/pull"
	"github.com/acme/knative-promote/promote/record"
	"github.com/acme/knative-promote/promote/source"
)

// A move is one step of one target.
type move struct {
	target *targetRun
	index  int // of the step in the plan
	log    journal.StepLog
	commit string // that shows the step
}

func (m *move) step() plan.PlannedStep { return m.target.plan.Steps[m.index] }

// edit is what the step changes. The tip that it is made on says whether the
// target may have more traffic now; a tip that shows the step already changes
// nothing. What the run may override passes where it stands in over.
func (m *move) edit(ctx context.Context, over []guard.Override) commit.Edit {
	step := m.step()
	e := commit.Edit{
		Proposal: m.target.pulls().Proposal(m.target.plan.ID, record.StepOf(step.Percent), m.index == 0),
		Repeats:  func(tip, head gitops.Snapshot) (bool, error) { return m.repeats(ctx, tip, head) },
		Subject:  step.Subject,
		Trailers: plan.Trailers(m.target.config.Settings, m.target.plan, record.StepOf(step.Percent), m.target.plan.From, m.target.plan.To, m.target.config.Reason),
		Draft: func(tip gitops.Snapshot) (commit.Draft, error) {
			plan := m.routable(ctx)
			files, wanted, err := plan.EditStep(ctx, m.target.config.Settings, m.index, tip, m.target.at.Live)
			if err == nil && len(files) > 0 {
				err = m.permitted(ctx, plan, tip, over)
			}
			return commit.Draft{Files: files, Traffic: plan.Steps[m.index].Traffic, Wanted: wanted}, m.target.named(err)
		},
	}
	for _, o := range over {
		e.Trailers = append(e.Trailers, gitops.Trailer{Key: plan.TrailerOverride, Value: string(o)})
	}
	return e
}

// permitted is why the step must not be committed on a tip; nil: it may be.
func (m *move) permitted(ctx context.Context, plan plan.Plan, tip gitops.Snapshot, over []guard.Override) error {
	if !m.passesMoved() {
		err := m.target.moved().Since(ctx, tip, m.target.over(), m.target.config.Gates.Wait)
		if moved.Is(err) && !m.target.committed() {
			return fmt.Errorf("%w; to have what Git says all the same, argocd app sync %s", err, m.target.App)
		}
		if err != nil {
			return err
		}
	}
	if err := m.target.moved().Automated(ctx, m.target.automated, m.target.config.Gates.Wait); err != nil {
		return err
	}
	if err := cmp.Or(m.newServes(ctx), m.oldServes(ctx, plan.Steps[m.index].Traffic), m.stillAlone(ctx)); err != nil {
		return err
	}
	if err := m.mayPromote(ctx, tip); err != nil {
		return err
	}
	if err := m.target.pulls().NotHeld(ctx, m.target.plan.ID, record.StepOf(m.step().Percent), m.index == 0); err != nil {
		return err
	}
	if !m.target.plan.Shifts() {
		return nil
	}
	return m.target.config.Guards.Permits(tip, guarded(m.target.Target), time.Now(), over)
}

// mayPromote is why the images must get no more traffic on a tip, because of where they
// come from; nil: they may.
func (m *move) mayPromote(ctx context.Context, tip gitops.Snapshot) error {
	if m.index == 0 && m.target.origin.Looked() && m.target.plan.Record.Promotion != m.target.plan.ID {
		return m.target.origin.Stand(ctx, tip)
	}
	return m.target.origin.NotWithdrawn(ctx, tip, m.target.plan, m.target.at)
}

// repeats tells whether a proposal's head has the record that the step would write on
// the tip, but for who wrote it and when.
func (m *move) repeats(ctx context.Context, tip, head gitops.Snapshot) (bool, error) {
	has := plan.RecordAt(head, m.target.Target)
	want := plan.StepRecord(m.target.config.Settings, m.target.plan, record.StepOf(m.step().Percent), plan.RecordAt(tip, m.target.Target))
	if !want.Source.IsZero() && source.AsThen(ctx, m.target.origin.Reader, want.Source, has.Source) {
		want.Source = has.Source
	}
	return pull.WouldWrite(want, has)
}

// routable is the plan with its step as Knative can route it now.
func (m *move) routable(ctx context.Context) plan.Plan {
	plan := m.target.plan
	plan.Steps = slices.Clone(plan.Steps)
	plan.Routable = routable(ctx, m.target, m.target.at.Live, plan.To)
	plan.Steps[m.index].Traffic = plan.Routable(m.step().Traffic)
	return plan
}

// newServes is the error of gate live of the step before where the new revision has a share and is not Ready any more: it
// may be long until somebody merges what gives it more.
func (m *move) newServes(ctx context.Context) error {
	plan := m.target.plan
	if m.index == 0 || plan.Steps[m.index-1].Percent == 0 {
		return nil
	}
	why, err := m.target.service.StaysLost(ctx, m.target.at.Live, plan.To)
	if err != nil || why == "" {
		return err
	}
	return &ask.GateError{Step: plan.Steps[m.index-1].Name, Gate: "live", Err: fmt.Errorf("revision %s %s since its gates have passed", plan.To, why)}
}

// oldServes is an error where a revision beside the new one has to keep a share, and
// is not Ready: for longer than a pod takes to find its place.
func (m *move) oldServes(ctx context.Context, traffic []servingv1.TrafficTarget) error {
	for revision := range knative.Shares(traffic) {
		if revision == m.target.plan.To || revision == "" {
			continue
		}
		if _, ready := m.target.service.Readiness(ctx, m.target.at.Live, revision); ready.Lost() {
			return &downError{revision, ready}
		}
	}
	return nil
}

// errReadyAgain is why a plan made without the old revision does not hold any more.
var errReadyAgain = errors.New("is Ready again, so the new one need not get all traffic in one step: start the run again")

// stillAlone is an error where the new revision was to get all traffic in one step, as
// the old one was not Ready, and that is Ready again. Only a clear yes is one.
func (m *move) stillAlone(ctx context.Context) error {
	if m.target.plan.Alone == "" {
		return nil
	}
	if found, err := m.target.service.Revision(ctx, live.NamespaceOf(m.target.at.Live), m.target.plan.From); err == nil && found.IsReady() {
		return fmt.Errorf("revision %s, which has the traffic, %w", m.target.plan.From, errReadyAgain)
	}
	return nil
}

// readBack takes the step's traffic from the commit: what Knative could not route
// to, when that was made, does not stand in it. Where it cannot be read, what was written
// says the same.
func (m *move) readBack(ctx context.Context, commit string, traffic, wanted []servingv1.TrafficTarget) {
	state, err := m.target.infra.At(ctx, commit)
	if err == nil {
		var read []servingv1.TrafficTarget
		if read, err = state.Traffic(); err == nil {
			traffic = read
		}
	}
	if err != nil {
		m.target.journal.Say("the commit cannot be read back, going on with what was written: %v", err)
	}
	tellLeftOut(ctx, m.target, slices.Concat(m.step().Traffic, wanted), traffic)
	m.target.plan.Steps[m.index].Traffic = traffic
}

// passesMoved tells whether a step may be made over what others have made of the Service:
// the run was told not to stop at it, and it is the first step that it makes live.
func (m *move) passesMoved() bool {
	return m.index == 0 && (m.target.config.Preflight != PreflightError || slices.Contains(m.target.config.Skip, check.Drifted))
}

// stillThere is an error where somebody has moved the Service while the gates of the last
// step were asked, whose commit none comes after.
func (m *move) stillThere(ctx context.Context) error {
	p := m.target
	shown, err := p.systems.Commits.At(ctx, m.commit)
	if err != nil {
		return ctx.Err()
	}
	return p.moved().Since(ctx, shown, p.over(), p.config.Gates.Wait)
}

// askGates asks the gates of a step, one row after the other.
func (m *move) askGates(ctx context.Context) error {
	step := m.target.gates.Step(m.step().Name, m.step().Step())
	intent := m.target.infra.Intent(m.commit, m.target.plan.Expected(m.step()))
	intent.Automated = m.target.automated
	if intent.Over = m.target.over(); m.passesMoved() {
		intent.Over, intent.Own, intent.Gives = nil, nil, nil
	}
	asked := askAt(m.target, step, m.commit, intent)
	for _, row := range m.target.gates.After(step, m.target.unasked) {
		if err := m.target.gates.All(ctx, row, asked, m.log, m.target.saw); err != nil {
			return err
		}
	}
	if m.index == len(m.target.plan.Steps)-1 {
		if err := m.stillThere(ctx); err != nil {
			return fmt.Errorf("%s: %w", m.step().Name, err)
		}
	}
	m.log.Passed()
	return nil
}

// committed notes the commit that shows the step.
func (m *move) committed(hash string, resumed bool) {
	m.commit = hash
	m.log.Committed(hash, resumed)
	m.target.journal.Tell(event.TrafficSet{Traffic: m.step().Traffic})
}

// gateFailed tells whether a gate has failed after the step.
func (m *move) gateFailed() bool {
	return slices.ContainsFunc(m.log.Step().Gates, func(g event.Gate) bool { return g.Progress == event.Broken })
}
