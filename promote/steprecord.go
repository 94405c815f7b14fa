package promote

import (
	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/repourl"
	"github.com/acme/knative-promote/promote/record"
)

// stepRecord is what a step's commit says, on top of what the overlay said before.
func stepRecord(c Settings, plan Plan, step string, before record.Record) record.Record {
	r := record.Record{
		Promotion: plan.ID, Repository: repourl.Shown(plan.Target.Source.RepoURL), Branch: plan.Target.Source.Branch, Overlay: plan.Overlay,
		Step: step, Percent: record.ShareOf(step), Reached: record.ShareOf(step), Tag: plan.tag,
		To: plan.to, From: plan.from, Base: plan.Base,
		Started: plan.started, Run: c.RunURL, Actor: c.Actor, Approved: c.Approved, Code: c.Code, Source: plan.source, Pull: plan.pull,
	}
	if !plan.source.IsZero() {
		r.Code = plan.code
	}
	if before.Promotion == plan.ID {
		return r.Continues(before)
	}
	return r.Follow(before.Of(plan.place()))
}

// sharedWith is the share of the traffic that an overlay gives a revision.
func sharedWith(state *knative.State, revision string) (percent int) {
	traffic, _ := state.Traffic() // what cannot be read gives it none
	for _, t := range traffic {
		if t.RevisionName == revision {
			percent += knative.Percent(t)
		}
	}
	return min(percent, 100)
}
