package knative

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// PreviousTag marks the revision that had the traffic before, kept at 0 % so
// that Knative does not collect it.
const PreviousTag = "previous"

// Split is a Service's traffic as a promotion sees it.
type Split struct {
	Stable    string                    // revision with the traffic; empty: the latest ready one
	Candidate string                    // revision under the candidate tag; empty: none
	Percent   int                       // the candidate's share
	Previous  string                    // revision kept under the tag `previous`; empty: none
	Foreign   []servingv1.TrafficTarget // targets and tags that are not the tool's, all at 0 %
}

// ReadSplit takes traffic apart. Traffic that a promotion cannot move without
// taking it from somebody else is an error that says so.
func ReadSplit(traffic []servingv1.TrafficTarget, candidateTag string) (Split, error) {
	var split Split
	var carrying []string
	for _, t := range traffic {
		switch {
		case t.Tag == candidateTag:
			if t.RevisionName == "" {
				return Split{}, fmt.Errorf("the tag %q is on the latest revision, not on a named one: take it out of the traffic, or choose another candidate-tag", candidateTag)
			}
			split.Candidate, split.Percent = t.RevisionName, Percent(t)
		case t.Tag == PreviousTag && Percent(t) == 0 && t.RevisionName != "":
			split.Previous = t.RevisionName
		default:
			if Percent(t) > 0 {
				carrying = append(carrying, name(t))
				split.Stable = t.RevisionName
			}
			if Percent(t) == 0 || t.Tag != "" {
				t.Percent = new(int64(0))
				split.Foreign = append(split.Foreign, t)
			}
		}
	}
	if len(carrying) > 1 {
		return Split{}, fmt.Errorf("the traffic is shared by %s, but a promotion moves all of it from one revision: give one of them 100 %% first (the others may stay at 0 %% under a tag)", strings.Join(carrying, " and "))
	}
	if split.Percent == 100 && len(carrying) == 0 {
		return split, nil
	}
	if len(carrying) == 0 && len(traffic) > 0 && split.Candidate != "" {
		return Split{}, errors.New("the traffic has a candidate but no revision that it is taken from")
	}
	return split, nil
}

// Targets is the traffic with the stable revision named and the candidate at
// its share. Below 100 % the candidate carries the tag. At 100 % it has none,
// and the stable revision stays at 0 % as previous where keep says so.
func (s Split) Targets(candidateTag string, keep bool) []servingv1.TrafficTarget {
	var targets []servingv1.TrafficTarget
	add := func(revision string, percent int, tag string) {
		for i := range s.Foreign { // a foreign tag on the stable revision carries its share
			if percent > 0 && tag == "" && s.Foreign[i].RevisionName == revision && revision == s.Stable {
				tag = s.Foreign[i].Tag
			}
		}
		targets = append(targets, servingv1.TrafficTarget{RevisionName: revision, Percent: new(int64(percent)), LatestRevision: new(false), Tag: tag})
	}
	switch {
	case s.Candidate == "":
		add(s.Stable, 100, "")
		if s.Previous != "" {
			add(s.Previous, 0, PreviousTag)
		}
	case s.Percent == 100:
		add(s.Candidate, 100, "")
		if keep && s.Stable != "" {
			add(s.Stable, 0, PreviousTag)
		}
	default:
		add(s.Stable, 100-s.Percent, "")
		add(s.Candidate, s.Percent, candidateTag)
		if s.Previous != "" {
			add(s.Previous, 0, PreviousTag)
		}
	}
	for _, t := range s.Foreign {
		if !slices.ContainsFunc(targets, func(u servingv1.TrafficTarget) bool {
			return u.Tag == t.Tag && (t.Tag != "" || u.RevisionName == t.RevisionName)
		}) {
			if t.LatestRevision == nil {
				t.LatestRevision = new(t.RevisionName == "")
			}
			targets = append(targets, t)
		}
	}
	return targets
}

// SameTraffic compares traffic as Knative reads it: an absent percent is 0, an
// absent latestRevision is true without a revision's name.
func SameTraffic(a, b []servingv1.TrafficTarget) bool {
	return slices.EqualFunc(a, b, func(x, y servingv1.TrafficTarget) bool {
		return x.RevisionName == y.RevisionName && x.Tag == y.Tag && Percent(x) == Percent(y) && x.ConfigurationName == y.ConfigurationName
	})
}

// Describe writes traffic for people, such as
// `90 % a-1, 10 % a-2 (candidate)`.
func Describe(traffic []servingv1.TrafficTarget) string {
	if len(traffic) == 0 {
		return "100 % latest"
	}
	var parts []string
	for _, t := range traffic {
		part := fmt.Sprintf("%d %% %s", Percent(t), name(t))
		if t.Tag != "" {
			part += " (" + t.Tag + ")"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func name(t servingv1.TrafficTarget) string {
	if t.RevisionName == "" {
		return "latest"
	}
	return t.RevisionName
}
