package promote

import (
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

const production = "apps/product-import/overlays/production"

// ours is what the tests plan for.
func ours() plan.Target {
	return plan.Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: production}
}

func target(revision string, percent int64, tag string) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{RevisionName: revision, Percent: &percent, Tag: tag, LatestRevision: new(false)}
}

// recordOf is the record of a step of a promotion.
func recordOf(step, from, to string) record.Record {
	return record.Record{
		Promotion: "00000000abcd", Overlay: production, Step: step, Percent: record.ShareOf(step), Base: "b0", From: record.Version{Revision: from}, To: record.Version{Revision: to},
	}
}
