package knative_test

import (
	"testing"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	target := func(revision string, percent int64, tag string) servingv1.TrafficTarget {
		return servingv1.TrafficTarget{RevisionName: revision, Percent: new(percent), Tag: tag}
	}
	wanted := []servingv1.TrafficTarget{target("a", 50, ""), target("b", 50, "candidate")}
	for name, c := range map[string]struct {
		has  []servingv1.TrafficTarget
		want bool
	}{
		"the same":               {wanted, true},
		"in another order":       {[]servingv1.TrafficTarget{wanted[1], wanted[0]}, true},
		"a tag at 0 %":           {append(wanted[:2:2], target("a", 0, "qa")), true},
		"a tag of the share":     {[]servingv1.TrafficTarget{target("a", 50, "qa"), wanted[1]}, true},
		"previous by people":     {append(wanted[:2:2], target("c", 0, "previous")), false},
		"another candidate":      {append(wanted[:2:2], target("c", 0, "candidate")), false},
		"without the candidate":  {[]servingv1.TrafficTarget{wanted[0], target("b", 50, "")}, false},
		"other shares":           {[]servingv1.TrafficTarget{target("a", 60, ""), target("b", 40, "candidate")}, false},
		"a share for another":    {append(wanted[:2:2], target("c", 1, "qa")), false},
		"by configuration, 0 %":  {append(wanted[:2:2], servingv1.TrafficTarget{ConfigurationName: "x"}), false},
		"nothing that is wanted": {nil, false},
	} {
		if got := knative.Holds(c.has, wanted, "candidate", knative.PreviousTag); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}
