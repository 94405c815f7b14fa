package promote

import (
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// expected is what an overlay shows that has a commit of ours, or one on top of
// it that leaves ours alone.
type expected struct {
	record.Version
	promotion, step string // of the record; empty: the overlay has no record of it
	traffic         []servingv1.TrafficTarget
	trafficOnly     bool // the template could not be rolled back, so its revision may be bad
}

// expected is what the overlay shows after a step.
func (p Plan) expected(step PlannedStep) expected {
	return expected{Version: p.to, promotion: p.ID, step: record.StepOf(step.Percent), traffic: step.Traffic}
}

// shownBy tells whether an overlay with this record shows it.
func (e expected) shownBy(state *knative.State, record record.Record) bool {
	return (e.promotion == "" || record.Is(e.promotion, e.step)) && shows(state, e.Revision, e.traffic) && e.SameImages(state)
}

// reachedBy tells whether an overlay with this record has come to it. An earlier try
// may have left out a target at 0 % that stands here.
func (e expected) reachedBy(state *knative.State, record record.Record) bool {
	traffic, err := state.Traffic()
	beyond := func(t servingv1.TrafficTarget) bool {
		return !slices.ContainsFunc(e.traffic, func(o servingv1.TrafficTarget) bool { return o.RevisionName == t.RevisionName && o.Tag == t.Tag })
	}
	return err == nil && record.Is(e.promotion, e.step) && state.Revision() == e.Revision &&
		maps.Equal(knative.Shares(traffic), knative.Shares(e.traffic)) && !slices.ContainsFunc(traffic, beyond) && e.SameImages(state)
}

// shownAt is what a commit with the overlay must make true.
func shownAt(state *knative.State) expected {
	has, _ := record.Parse(state.Record()) // without one the fields tell
	traffic, _ := state.Traffic()
	return expected{Version: record.VersionOf(state.Revision(), state), promotion: has.Promotion, step: has.Step, traffic: traffic}
}
