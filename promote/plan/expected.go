package plan

import (
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/record"
)

// Expected is what an overlay shows that has a commit of ours, or one on top of
// it that leaves ours alone.
type Expected struct {
	record.Version
	Promotion, Step string // of the record; empty: the overlay has no record of it
	Traffic         []servingv1.TrafficTarget
	TrafficOnly     bool // the template's revision has no traffic and may be what is rolled back from
}

// Expected is what the overlay shows after a step.
func (p Plan) Expected(step PlannedStep) Expected {
	return Expected{Version: p.toVersion, Promotion: p.ID, Step: record.StepOf(step.Percent), Traffic: step.Traffic}
}

// ShownBy tells whether an overlay with this record shows it.
func (e Expected) ShownBy(state *knative.State, record record.Record) bool {
	return (e.Promotion == "" || record.Is(e.Promotion, e.Step)) && Shows(state, e.Revision, e.Traffic) && e.KeptBy(state, record.From)
}

// reachedBy tells whether an overlay with this record has come to it. An earlier try
// may have left out a target at 0 % that stands here.
func (e Expected) reachedBy(state *knative.State, record record.Record) bool {
	traffic, err := state.Traffic()
	beyond := func(t servingv1.TrafficTarget) bool {
		return !slices.ContainsFunc(e.Traffic, func(o servingv1.TrafficTarget) bool { return o.RevisionName == t.RevisionName && o.Tag == t.Tag })
	}
	return err == nil && record.Is(e.Promotion, e.Step) && state.Revision() == e.Revision &&
		maps.Equal(knative.Shares(traffic), knative.Shares(e.Traffic)) && !slices.ContainsFunc(traffic, beyond) && e.SameImages(state)
}

// ShownAt is what a commit with the overlay must make true.
func ShownAt(state *knative.State) Expected {
	has, _ := record.Parse(state.Record()) // without one the fields tell
	traffic, _ := state.Traffic()
	return Expected{Version: record.VersionOf(state.Revision(), state), Promotion: has.Promotion, Step: has.Step, Traffic: traffic}
}
