package promote

import (
	"cmp"
	"context"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/live"
)

// Knative routes all or nothing: one traffic target whose revision is missing or not
// Ready, also at 0 %, and it changes nothing of the Service's routes
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/reconciler/route/traffic/traffic.go#L376-L383).

// routable takes the targets at 0 % that Knative certainly cannot route to out of traffic. The revision that the
// commit's own template makes stays. Where nobody answers, what was seen before the first commit tells.
func routable(ctx context.Context, p *targetRun, seen *servingv1.Service, made string) func(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	unroutable := func(t servingv1.TrafficTarget) bool {
		if !live.Optional(t, made) {
			return false
		}
		_, ready := p.service.Readiness(ctx, seen, t.RevisionName)
		return ready.Why != "" || ready.Unknown && p.at.Unroutable[t.RevisionName] != ""
	}
	return func(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
		return slices.DeleteFunc(slices.Clone(traffic), unroutable)
	}
}

// blocking says of a target at 0 % of an overlay that it certainly keeps Knative from routing; empty: none does.
func blocking(ctx context.Context, service live.Service, seen *servingv1.Service, state *knative.State) string {
	traffic, _ := state.Traffic() // what cannot be read keeps nobody
	return service.Blocking(ctx, seen, traffic, state.Revision())
}

// tellLeftOut warns of targets at 0 % that a commit has left out: of the overlay as the
// run has found it, and of what it wanted.
func tellLeftOut(ctx context.Context, p *targetRun, wanted, committed []servingv1.TrafficTarget) {
	found, _ := p.at.Now.Traffic() // it has been read before
	found = slices.DeleteFunc(slices.Clone(found), func(t servingv1.TrafficTarget) bool { return p.at.Unroutable[t.RevisionName] == "" })
	words := live.LeftOut(append(found, wanted...), committed, p.at.Live, func(revision string) string {
		return cmp.Or(p.at.Unroutable[revision], p.service.Why(ctx, p.at.Live, revision), "was not Ready")
	})
	if len(words) > 0 {
		p.journal.Warn(strings.Join(words, "; "))
	}
}
