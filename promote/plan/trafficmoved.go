package plan

import (
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// TrafficMoved tells whether the share of some revision is another one now.
func TrafficMoved(before *knative.State, now []servingv1.TrafficTarget) bool {
	was, err := before.Traffic()
	if err != nil {
		return true
	}
	share := map[string]int{}
	for _, t := range was {
		share[t.RevisionName] += knative.Percent(t)
	}
	if len(was) == 0 {
		share[""] = 100
	}
	for _, t := range now {
		share[t.RevisionName] -= knative.Percent(t)
	}
	for _, difference := range share {
		if difference != 0 {
			return true
		}
	}
	return false
}
