package argo

import (
	"testing"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestSameRouting has lists that Git and Knative write differently.
func TestSameRouting(t *testing.T) {
	t.Parallel()
	type targets = []servingv1.TrafficTarget
	named := func(revision string, percent int64) servingv1.TrafficTarget {
		return servingv1.TrafficTarget{RevisionName: revision, Percent: new(percent), LatestRevision: new(false)}
	}
	tagged := named("web-2", 10)
	tagged.Tag = "candidate"
	for name, test := range map[string]struct {
		a, b targets
		same bool
	}{
		"another order":    {targets{named("web-1", 90), tagged}, targets{tagged, named("web-1", 90)}, true},
		"nothing said":     {nil, targets{{LatestRevision: new(true), Percent: new(int64(100))}}, true},
		"fields left out":  {targets{{RevisionName: "web-1"}}, targets{named("web-1", 0)}, true},
		"another share":    {targets{named("web-1", 90)}, targets{named("web-1", 80)}, false},
		"another tag":      {targets{named("web-2", 10)}, targets{tagged}, false},
		"another revision": {targets{named("web-1", 100)}, targets{named("web-2", 100)}, false},
		"one more":         {targets{named("web-1", 100)}, targets{named("web-1", 100), named("web-2", 0)}, false},
		"latest and named": {targets{{RevisionName: "web-1", LatestRevision: new(true), Percent: new(int64(100))}}, targets{named("web-1", 100)}, false},
	} {
		if got := sameRouting(test.a, test.b); got != test.same {
			t.Errorf("%s: %s and %s are the same: %v", name, describeRouting(test.a), describeRouting(test.b), got)
		}
	}
}
