package promote

import (
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// asked is a step as its gates know it.
func (c Config) asked(name string, step plan.Step) gate.Step {
	asked := gate.Step{Name: name, Percent: step.Percent, Bake: step.Bake}
	for _, s := range c.Steps {
		if s.Percent > step.Percent {
			asked.Next = s.Percent
			break
		}
	}
	return asked
}

// allSteps are those after which a gate may be asked: the candidate's and those that
// were asked for.
func (c Config) allSteps() (steps []gate.Step) {
	if c.Steps[0].Percent > 0 {
		steps = append(steps, c.asked("", plan.Step{}))
	}
	for _, step := range c.Steps {
		steps = append(steps, c.asked("", step))
	}
	return steps
}

// gates are those after a step that are asked of the target.
func (p *targetRun) gates(step gate.Step) [][]gate.Gate {
	rows := p.Gates.After(step, p.templates)
	for i, row := range rows {
		rows[i] = slices.DeleteFunc(row, func(g gate.Gate) bool { return p.unasked(g, step) })
	}
	return rows
}

// patience is the longest that all gates of a step take.
func (p *targetRun) patience(step plan.PlannedStep) time.Duration {
	return gate.Patience(p.gates(p.asked(step.Name, step.Step())))
}

// unasked tells whether a gate could not pass after a step, whatever the candidate
// is: beside an old revision that is not Ready only what Knative has routed before can
// be asked.
func (p *targetRun) unasked(g gate.Gate, step gate.Step) bool {
	if p.plan.Alone == "" || step.Percent == 100 {
		return false
	}
	_, err := gate.CandidateURL(p.at.Live, p.at.Tag, step.Percent)
	return g.Routed || err != nil
}

// askAt is what the gates are told after a commit.
func (p *targetRun) askAt(step gate.Step, commit string, intent argo.Intent) *gate.Ask {
	return &gate.Ask{
		Service: p.Service, Tag: p.at.Tag, From: p.plan.From, To: p.plan.To, Image: p.plan.Image,
		Step: step, Commit: commit, Intent: intent,
		Observed: argo.Observed{App: p.at.App, Service: p.at.Live}, Counted: p.counted,
		Cluster: p.Cluster, Revision: p.service.Revision, Metrics: p.Metrics, Sources: p.Sources,
		Say: p.journal.Say, Debug: p.journal.Debug,
	}
}
