package promote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/live"
	"github.com/acme/knative-promote/promote/plan"
)

// Knative routes all or nothing: one traffic target whose revision is missing or not
// Ready, also at 0 %, and it changes nothing of the Service's routes
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/reconciler/route/traffic/traffic.go#L376-L383).

// A downError is a revision that a commit would have to give traffic to, and that
// Knative cannot route to.
type downError struct {
	Revision string
	plan.Readiness
}

// Error says what is left to do.
func (e *downError) Error() string {
	return fmt.Sprintf("revision %s, which had the traffic before, %s, so Knative would route nothing anew: promote an image that is good, with steps that end with 100: it gets there in one; or name another revision with rollback --to",
		e.Revision, e.Why)
}

func isDown(err error) bool {
	_, is := errors.AsType[*downError](err)
	return is
}

// onlyRoutable is traffic without the targets at 0 % that Knative certainly cannot
// route to. The revision that the commit's own template makes stays. Where nobody
// answers, what was seen before the first commit tells.
func (p *targetRun) onlyRoutable(ctx context.Context, seen *servingv1.Service, traffic []servingv1.TrafficTarget, made string) []servingv1.TrafficTarget {
	return slices.DeleteFunc(slices.Clone(traffic), func(t servingv1.TrafficTarget) bool {
		if !live.Optional(t, made) {
			return false
		}
		_, ready := p.service.Readiness(ctx, seen, t.RevisionName)
		return ready.Why != "" || ready.Unknown && p.at.Unroutable[t.RevisionName] != ""
	})
}

// tellLeftOut warns of targets at 0 % that a commit has left out: of the overlay as the
// run has found it, and of what it wanted.
func tellLeftOut(ctx context.Context, p *targetRun, wanted, committed []servingv1.TrafficTarget) {
	found, _ := p.at.Now.Traffic() // it has been read before
	found = slices.DeleteFunc(slices.Clone(found), func(t servingv1.TrafficTarget) bool { return p.at.Unroutable[t.RevisionName] == "" })
	words := leftOut(append(found, wanted...), committed, func(revision string) string {
		return cmp.Or(p.at.Unroutable[revision], p.service.Why(ctx, p.at.Live, revision), "was not Ready")
	})
	if len(words) > 0 {
		p.journal.Warn(strings.Join(words, "; "))
	}
}

// leftOut says in words which targets of some traffic stand no more in what was
// committed, and whose they were.
func leftOut(wanted, committed []servingv1.TrafficTarget, why func(revision string) string) (words []string) {
	for i, t := range wanted {
		if slices.ContainsFunc(wanted[:i], func(o servingv1.TrafficTarget) bool { return o.RevisionName == t.RevisionName && o.Tag == t.Tag }) {
			continue
		}
		there := slices.ContainsFunc(committed, func(c servingv1.TrafficTarget) bool { return c.RevisionName == t.RevisionName && c.Tag == t.Tag })
		if there || t.RevisionName == "" || knative.Percent(t) > 0 {
			continue
		}
		if t.Tag == knative.PreviousTag && knative.Shares(committed)[t.RevisionName] > 0 {
			continue // it is what is rolled back to, so it is not the previous one any more
		}
		whose := "somebody's target without a tag"
		switch t.Tag {
		case "":
		case knative.PreviousTag:
			whose = "the tag previous, which is ours,"
		default:
			whose = fmt.Sprintf("somebody's tag %s", t.Tag)
		}
		words = append(words, fmt.Sprintf("%s is left out of the traffic: revision %s %s, so Knative would route nothing anew", whose, t.RevisionName, why(t.RevisionName)))
	}
	return words
}

// routable is the plan with its step as Knative can route it now.
func (m *move) routable(ctx context.Context) plan.Plan {
	plan := m.target.plan
	plan.Steps = slices.Clone(plan.Steps)
	plan.Steps[m.index].Traffic = m.target.onlyRoutable(ctx, m.target.at.Live, m.step().Traffic, plan.To)
	return plan
}

// oldServes is an error where a revision beside the new one has to keep a share, and
// is not Ready.
func (m *move) oldServes(ctx context.Context, traffic []servingv1.TrafficTarget) error {
	for revision := range knative.Shares(traffic) {
		if revision == m.target.plan.To || revision == "" {
			continue
		}
		if _, ready := m.target.service.Readiness(ctx, m.target.at.Live, revision); ready.Why != "" {
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
func (m *move) readBack(ctx context.Context, commit string, traffic []servingv1.TrafficTarget) {
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
	tellLeftOut(ctx, m.target, m.step().Traffic, traffic)
	m.target.plan.Steps[m.index].Traffic = traffic
}
