package live

import (
	"context"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/sleep"
)

// settlePoll is how often a Service is looked at that is being deployed.
const settlePoll = time.Second

// deploying tells whether Knative is making something else of a Service that serves, and has
// not said yet whether it can.
func deploying(service *servingv1.Service) bool {
	if service == nil || service.Status.LatestReadyRevisionName == "" {
		return false
	}
	ready := service.Status.GetCondition(servingv1.ServiceConditionReady)
	return service.Generation != service.Status.ObservedGeneration || ready != nil && ready.IsUnknown()
}

// Settle waits while Knative is making the latest revision of a Service ready, and tells
// whether it had to: what serves now is not what will.
func (s Service) Settle(ctx context.Context, seen *servingv1.Service, patience time.Duration, say func(format string, args ...any)) (waited bool, err error) {
	for until := time.Now().Add(patience); deploying(seen) && time.Now().Before(until); waited = true {
		if !waited {
			say("waiting for up to %s until the Service is ready as it stands, since the promotion begins from what Knative serves", patience)
		}
		if err := sleep.For(ctx, settlePoll); err != nil {
			return waited, err
		}
		observed, err := s.Observe(ctx, 0)
		if err != nil {
			return waited, err
		}
		seen = observed.Service
	}
	return waited, nil
}
