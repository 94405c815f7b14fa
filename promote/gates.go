package promote

import (
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/plan"
)

// patienceOf is the longest that all gates of a step take.
func patienceOf(p *targetRun, step plan.PlannedStep) time.Duration {
	return gate.Patience(p.gates.After(p.gates.Step(step.Name, step.Step()), p.unasked))
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
func askAt(p *targetRun, step gate.Step, commit string, intent argo.Intent) *gate.Ask {
	return &gate.Ask{
		Service: p.Service, Tag: p.at.Tag, From: p.plan.From, To: p.plan.To, Image: p.plan.Image,
		Step: step, Commit: commit, Intent: intent,
		Observed: argo.Observed{App: p.at.App, Service: p.at.Live}, Counted: p.gates.Counted,
		Cluster: p.systems.Cluster, Revision: p.service.Revision, Metrics: p.systems.Metrics, Sources: p.systems.Sources,
		Say: p.journal.Say, Debug: p.journal.Debug,
	}
}
