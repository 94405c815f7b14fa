package plan

import (
	"fmt"

	"github.com/acme/knative-promote/gitops/knative"
)

// atOnce are steps in one: the revision that gets all traffic with it is judged by all that is asked after them,
// for as long as it would have been with the longest.
func atOnce(steps []Step) Step {
	all := Step{Percent: 100, AtOnce: true}
	for _, s := range steps {
		all.Bake = max(all.Bake, s.Bake)
	}
	return all
}

// goesAlone tells whether a new revision gets all traffic in one step: Knative can
// route nothing beside it, and the run may give it that.
func (c Settings) goesAlone(at Situation) bool {
	return at.OldReadiness.Lost() && c.Steps[len(c.Steps)-1].Percent == 100
}

// byHand tells whether people have made the candidate, which has no traffic yet:
// a promotion goes on from it.
func byHand(at Situation, split knative.Split) bool {
	return split.Percent == 0 && !at.Record.Of(at.Place()).Exists()
}

// alone is why the new revision gets all traffic in one step.
func alone(at Situation, old string) string {
	return fmt.Sprintf("revision %s, which has the traffic, %s, so Knative would route nothing beside it: the new one gets all traffic in one step", old, at.OldReadiness.Why)
}
