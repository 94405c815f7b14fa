package live

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	duckv1 "knative.dev/pkg/apis/duck/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
)

// changing is an Argo CD whose Service is as the list says, one look after the other, and
// stays as the last one.
type changing struct {
	Cluster
	left []*servingv1.Service
}

func (c *changing) Live(context.Context, argo.Target) (argo.Observed, error) {
	next := c.left[0]
	if len(c.left) > 1 {
		c.left = c.left[1:]
	}
	return argo.Observed{Service: next}, nil
}

// TestSettle waits for what is about to serve, and for nothing else.
func TestSettle(t *testing.T) {
	t.Parallel()
	service := func(generation int64, serves string, ready corev1.ConditionStatus) *servingv1.Service {
		s := &servingv1.Service{}
		s.Generation, s.Status.ObservedGeneration, s.Status.LatestReadyRevisionName = generation, 2, serves
		s.Status.Conditions = duckv1.Conditions{{Type: servingv1.ServiceConditionReady, Status: ready}}
		return s
	}
	deploying := service(2, "web-1", corev1.ConditionUnknown)
	for name, test := range map[string]struct {
		seen   *servingv1.Service
		then   []*servingv1.Service
		waited time.Duration
	}{
		"there is none":              {nil, nil, 0},
		"ready":                      {service(2, "web-1", corev1.ConditionTrue), nil, 0},
		"the first deployment":       {service(2, "", corev1.ConditionUnknown), nil, 0},
		"not reconciled":             {service(3, "web-1", corev1.ConditionTrue), []*servingv1.Service{service(2, "web-2", corev1.ConditionTrue)}, time.Second},
		"becomes ready":              {deploying, []*servingv1.Service{deploying, service(2, "web-2", corev1.ConditionTrue)}, 2 * time.Second},
		"fails":                      {deploying, []*servingv1.Service{service(2, "web-1", corev1.ConditionFalse)}, time.Second},
		"neither, as far as is told": {deploying, []*servingv1.Service{deploying}, time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			began, said := time.Now(), ""
			say := func(format string, args ...any) { said = fmt.Sprintf(format, args...) }
			waited, err := Service{Cluster: &changing{left: test.then}}.Settle(t.Context(), test.seen, time.Minute, say)
			if took := time.Since(began); err != nil || took != test.waited || waited != (took > 0) || (said != "") != waited {
				t.Errorf("%s: waited %t for %s, said %q, %v; want %s", name, waited, took, said, err, test.waited)
			}
		})
	}
}
