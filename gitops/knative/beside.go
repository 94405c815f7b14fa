package knative

import (
	"maps"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// Beside is traffic with people's targets at 0 % beside it. Where it has one of their tags on another
// revision, theirs is the newer one.
func Beside(traffic, peoples []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	var moved []string
	for _, t := range peoples {
		if t.Tag != "" && HasTag(traffic, t.Tag) && !slices.Contains(addresses(traffic), address(t)) {
			moved = append(moved, t.Tag)
		}
	}
	with := Without(traffic, moved)
	for _, t := range peoples {
		with = addTarget(with, t)
	}
	return with
}

// Holds tells whether traffic is as wanted, in whatever order, but for targets that people have added at
// 0 %. One with a tag of ours is none of those.
func Holds(traffic, wanted []servingv1.TrafficTarget, ours ...string) bool {
	has, needs := addresses(traffic), addresses(wanted)
	return maps.Equal(Shares(traffic), Shares(wanted)) &&
		!slices.ContainsFunc(needs, func(t servingv1.TrafficTarget) bool { return !slices.Contains(has, t) }) &&
		!slices.ContainsFunc(has, func(t servingv1.TrafficTarget) bool {
			peoples := t.ConfigurationName == "" && (t.Tag == "" || !slices.Contains(ours, t.Tag))
			return !peoples && !slices.Contains(needs, t)
		})
}

// SameTargets tells whether each of two has what the other has, in whatever order.
func SameTargets(a, b []servingv1.TrafficTarget) bool { return Holds(a, b) && Holds(b, a) }

// Among tells whether traffic has a target of the same revision and tag.
func Among(traffic []servingv1.TrafficTarget, t servingv1.TrafficTarget) bool {
	return slices.ContainsFunc(traffic, func(o servingv1.TrafficTarget) bool { return o.RevisionName == t.RevisionName && o.Tag == t.Tag })
}

// addresses are what traffic has beside the shares of revisions: where its tags lead, and its targets
// at 0 % without one.
func addresses(traffic []servingv1.TrafficTarget) (all []servingv1.TrafficTarget) {
	for _, t := range traffic {
		if t.Tag != "" || t.ConfigurationName != "" || Percent(t) == 0 {
			all = append(all, address(t))
		}
	}
	return all
}

func address(t servingv1.TrafficTarget) servingv1.TrafficTarget {
	return servingv1.TrafficTarget{Tag: t.Tag, RevisionName: t.RevisionName, ConfigurationName: t.ConfigurationName}
}
