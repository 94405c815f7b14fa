package plan

import (
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
	Tag             string // of a candidate: nobody else's target has it; empty: none is known
	TrafficOnly     bool   // the template's revision has no traffic and may be what is rolled back from
}

// Expected is what the overlay shows after a step.
func (p Plan) Expected(step PlannedStep) Expected {
	return Expected{Version: p.toVersion, Promotion: p.ID, Step: record.StepOf(step.Percent), Traffic: step.Traffic, Tag: p.Tag}
}

// ShownBy tells whether an overlay with this record shows it.
func (e Expected) ShownBy(state *knative.State, record record.Record) bool {
	return (e.Promotion == "" || record.Is(e.Promotion, e.Step)) && e.routedBy(state) && e.KeptBy(state, record.From)
}

// routedBy tells whether an overlay has the revision and the traffic. What people add to that at 0 %
// takes nothing from anybody.
func (e Expected) routedBy(state *knative.State) bool {
	traffic, err := state.Traffic()
	return err == nil && state.Revision() == e.Revision && knative.Holds(traffic, e.Traffic, e.Tag, knative.PreviousTag)
}

// reachedBy tells whether an overlay with this record has come to it. An earlier try
// may have left out a target at 0 % that stands here.
func (e Expected) reachedBy(state *knative.State, record record.Record) bool {
	has, _ := state.Traffic() // without it nothing is reached
	e.Traffic = slices.DeleteFunc(slices.Clone(e.Traffic), func(t servingv1.TrafficTarget) bool {
		return knative.Percent(t) == 0 && !knative.Among(has, t)
	})
	return record.Is(e.Promotion, e.Step) && e.routedBy(state) && e.SameImages(state)
}

// ShownAt is what a commit with the overlay must make true.
func ShownAt(state *knative.State) Expected {
	has, _ := record.Parse(state.Record()) // without one the fields tell
	traffic, _ := state.Traffic()
	return Expected{Version: record.VersionOf(state.Revision(), state), Promotion: has.Promotion, Step: has.Step, Traffic: traffic, Tag: has.Tag}
}
