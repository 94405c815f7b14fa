package live

import (
	"context"
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// LatestDown is why Knative cannot route to the latest revision where a Service's template is that of
// one; empty: it can, or that is not known. Knative takes the template's own, and where that is not
// Ready the one that was the latest ready one before, which may have failed since
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/reconciler/configuration/configuration.go).
func (s Service) LatestDown(ctx context.Context, live *servingv1.Service, made string) string {
	if live == nil || made == "" || live.Status.LatestReadyRevisionName == "" {
		return ""
	}
	if _, ready := s.Readiness(ctx, live, made); !ready.Down() {
		return "" // it is the latest ready one, or may still become that
	}
	return s.Why(ctx, live, live.Status.LatestReadyRevisionName)
}

// Most is the revision with the largest share of a Service's traffic, without one of them and those that
// Knative cannot route to; empty: there is none.
func (s Service) Most(ctx context.Context, live *servingv1.Service, without string) (name string) {
	most, shares := 0, knative.Shares(live.Status.Traffic)
	for _, other := range slices.Sorted(maps.Keys(shares)) {
		if share := shares[other]; share > most && other != without && s.Why(ctx, live, other) == "" {
			most, name = share, other
		}
	}
	return name
}
