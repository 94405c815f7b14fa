package promote

import (
	"context"
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

// tellTime says before the first commit that the run may have too little time left for
// its gates.
func tellTime(ctx context.Context, p *targetRun) {
	end, limited := ctx.Deadline()
	var longest time.Duration
	for _, step := range p.plan.Steps {
		longest += patienceOf(p, step)
	}
	if left := time.Until(end).Round(time.Second); limited && left < longest {
		p.journal.Say("timeout: the run has %s left, and its gates may take up to %s: one that is asked when the time ends counts as failed, or as inconclusive where it counts requests; give a longer timeout, or shorter times in steps", left, longest)
	}
}

// tellPlan says which commits a run would make, and how long the gates of each may
// take.
func tellPlan(p *targetRun) {
	var longest time.Duration
	commits := 0
	for _, step := range p.plan.Steps {
		if step.Done {
			continue
		}
		patience := patienceOf(p, step)
		longest += patience
		commits++
		p.journal.Say("plan: %s; its gates may take up to %s", step.Subject, patience)
	}
	if commits > 1 {
		p.journal.Say("plan: %d commits, and one more that notes that the last gate has passed; at most %s in all", commits, longest)
	}
}
