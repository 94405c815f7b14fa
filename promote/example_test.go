package promote

import (
	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/plan"
	"github.com/acme/knative-promote/promote/record"
)

const production = "apps/product-import/overlays/production"

// ours is what the tests plan for.
func ours() plan.Target {
	return plan.Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: production}
}

// recordOf is the record of a step of a promotion.
func recordOf(step, from, to string) record.Record {
	return record.Record{
		Promotion: "00000000abcd", Overlay: production, Step: step, Percent: record.ShareOf(step), Base: "b0", From: record.Version{Revision: from}, To: record.Version{Revision: to},
	}
}
