package knative

import (
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// MovingTags are the tags that people have put on the latest revision with a share of the traffic.
// They are addresses of what users have: a promotion names the revision that they lead to, which is
// the stable one until the candidate has all traffic.
func MovingTags(s *State, candidateTag string) (tags []string) {
	for _, t := range plainTags(s, candidateTag) {
		if t.RevisionName == "" && Percent(t) > 0 {
			tags = append(tags, t.Tag)
		}
	}
	return tags
}

// Without is traffic without the tags, a target without a share that had one left out.
func Without(traffic []servingv1.TrafficTarget, tags []string) (left []servingv1.TrafficTarget) {
	for _, t := range traffic {
		if t.Tag == "" || !slices.Contains(tags, t.Tag) {
			left = append(left, t)
		} else if Percent(t) > 0 {
			t.Tag = ""
			left = append(left, t)
		}
	}
	return left
}

// TakenOut are those of the tags that people's own files have no more.
func TakenOut(s *State, candidateTag string, tags []string) []string {
	plain := plainTags(s, candidateTag)
	return slices.DeleteFunc(slices.Clone(tags), func(tag string) bool { return HasTag(plain, tag) })
}

// StrayTags are the tags of named revisions that are in the tool's own file alone: the tool moves none
// of them.
func StrayTags(s *State, candidateTag string) (strays []servingv1.TrafficTarget) {
	plain := plainTags(s, candidateTag)
	for _, t := range tagsIn(s.service, candidateTag) {
		if t.RevisionName != "" && !HasTag(plain, t.Tag) {
			strays = append(strays, t)
		}
	}
	return strays
}

// UnusedTags are the tags in people's own files that the tool's file, which replaces their traffic, does not have,
// and that no promotion brings there.
func UnusedTags(s *State, candidateTag string) (unused []servingv1.TrafficTarget) {
	if !s.Owned() {
		return nil
	}
	used, moving := tagsIn(s.service, candidateTag), MovingTags(s, candidateTag)
	for _, t := range plainTags(s, candidateTag) {
		if !HasTag(used, t.Tag) && !slices.Contains(moving, t.Tag) {
			unused = append(unused, t)
		}
	}
	return unused
}

// plainTags are the targets with people's tags in the overlay without the tool's own files.
func plainTags(s *State, candidateTag string) []servingv1.TrafficTarget {
	return tagsIn(s.plain, candidateTag)
}

// tagsIn are a Service's targets with tags that are not the tool's own. What is wrong with the traffic is
// said where the whole of it is read.
func tagsIn(o object, candidateTag string) (tags []servingv1.TrafficTarget) {
	service, err := typed(o)
	if err != nil {
		return nil
	}
	for _, t := range service.Spec.Traffic {
		if t.Tag != "" && t.Tag != candidateTag && t.Tag != PreviousTag {
			tags = append(tags, t)
		}
	}
	return tags
}

// HasTag tells whether one of the targets has a tag.
func HasTag(targets []servingv1.TrafficTarget, tag string) bool {
	return slices.ContainsFunc(targets, func(t servingv1.TrafficTarget) bool { return t.Tag == tag })
}
