package plan

import (
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/repourl"
	"github.com/acme/knative-promote/promote/record"
)

// StepRecord is what a step's commit says, on top of what the overlay said before.
func StepRecord(c Settings, plan Plan, step string, before record.Record) record.Record {
	r := record.Record{
		Promotion: plan.ID, Repository: repourl.Shown(plan.Target.Source.RepoURL), Branch: plan.Target.Source.Branch, Overlay: plan.Overlay,
		Step: step, Percent: record.ShareOf(step), Reached: record.ShareOf(step), Tag: plan.Tag, Moving: knative.MovingTags(plan.Now, plan.Tag),
		To: plan.toVersion, From: plan.FromVersion, Base: plan.Base,
		Started: plan.Started, Run: c.RunURL, Actor: c.Actor, Approved: c.Approved, Code: c.Code, Source: plan.Source, Pull: plan.Pull,
	}
	if !plan.Source.IsZero() {
		r.Code = plan.Code
	}
	if before.Promotion == plan.ID {
		return r.Continues(before)
	}
	return r.Follow(before.Of(plan.Place()))
}

// movingIn are the tags in a reversal's traffic that have gone with it, by all that knows of them: people may
// have taken one out of their own file since.
func movingIn(traffic []servingv1.TrafficTarget, old *knative.State, now, before record.Record) []string {
	known := slices.Concat(now.Moving, before.Moving)
	if old != nil {
		was, _ := record.Parse(old.Record()) // one that cannot be read tells of none
		known = append(known, was.Moving...)
	}
	slices.Sort(known)
	return slices.DeleteFunc(slices.Compact(known), func(tag string) bool { return !knative.HasTag(traffic, tag) })
}

// ShareOf is the share of the traffic that an overlay gives a revision.
func ShareOf(state *knative.State, revision string) (percent int) {
	traffic, _ := state.Traffic() // what cannot be read gives it none
	for _, t := range traffic {
		if t.RevisionName == revision {
			percent += knative.Percent(t)
		}
	}
	return min(percent, 100)
}
