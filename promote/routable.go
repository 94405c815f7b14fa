package promote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/live"
)

// Knative routes all or nothing: one traffic target whose revision is missing or not
// Ready, also at 0 %, and it changes nothing of the Service's routes
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/reconciler/route/traffic/traffic.go#L376-L383).

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
