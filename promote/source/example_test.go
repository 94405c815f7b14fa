package source

import (
	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/fake/promotetest"
	"github.com/acme/knative-promote/promote/plan"
)

// ours is what the tests plan for.
func ours() plan.Target {
	return plan.Target{Target: argo.Target{Service: "product-import"}, Environment: "production", Overlay: promotetest.Production}
}
