package knative

import (
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
	Moving    []string                  // people's tags that go with the traffic: see [MovingTags]
	Foreign   []servingv1.TrafficTarget // targets and other tags that are not the tool's, all at 0 %
}

// ReadSplit takes traffic apart, with which people's tags of moving go, whether they are there
// already or not. Traffic that a promotion cannot move without taking it from somebody else is
// an error that says so; what is not the tool's is known with that too.
func ReadSplit(traffic []servingv1.TrafficTarget, candidateTag string, moving []string) (Split, error) {
	split := takeForeign(traffic, candidateTag, moving)
	only := split
	var carrying []string
	for _, t := range traffic {
		ours := t.Tag != "" && (t.Tag == candidateTag || t.Tag == PreviousTag)
		switch {
		case ours && t.RevisionName == "" && t.Tag == PreviousTag:
			return only, fmt.Errorf("the tag %q is on the latest revision, and a promotion needs it for the one before: take it out of the traffic", t.Tag)
		case ours && t.RevisionName == "":
			return only, fmt.Errorf("the tag %q is on the latest revision, not on a named one: take it out of the traffic, or choose another candidate-tag", t.Tag)
		case ours && t.Tag == candidateTag:
			split.Candidate, split.Percent = t.RevisionName, Percent(t)
		case ours && Percent(t) == 0:
			split.Previous = t.RevisionName
		case t.ConfigurationName != "":
			return only, fmt.Errorf("the traffic names the configuration %s, which Knative does not take in a Service: name a revision", t.ConfigurationName)
		case Percent(t) > 0:
			if !slices.Contains(carrying, name(t)) {
				carrying = append(carrying, name(t))
			}
			split.Stable = t.RevisionName
		}
	}
	switch {
	case len(carrying) > 1:
		return only, fmt.Errorf("the traffic is shared by %s, but a promotion moves all of it from one revision: give one of them 100 %% first (the others may stay at 0 %% under a tag)", strings.Join(carrying, " and "))
	case len(carrying) == 0 && split.Candidate != "" && split.Percent < 100:
		return only, fmt.Errorf("the traffic has the candidate %s at %d %%, but no revision that it is taken from", split.Candidate, split.Percent)
	}
	return split, nil
}

// takeForeign takes what is not the tool's: every other tag, and every target without
// traffic, at 0 %. Two targets of the same kind would never become ready.
func takeForeign(traffic []servingv1.TrafficTarget, candidateTag string, moving []string) (split Split) {
	split.Moving = moving
	for _, t := range traffic {
		ours := t.Tag == candidateTag || t.Tag == PreviousTag
		switch {
		case t.ConfigurationName != "" || t.Tag != "" && ours || t.Tag == "" && Percent(t) > 0 || slices.Contains(moving, t.Tag):
		default:
			t.Percent = new(int64(0))
			t.LatestRevision = new(t.RevisionName == "")
			split.Foreign = addTarget(split.Foreign, t)
		}
	}
	return split
}

// addTarget adds a target unless there is one with its tag, or an untagged one
// of its revision.
func addTarget(targets []servingv1.TrafficTarget, t servingv1.TrafficTarget) []servingv1.TrafficTarget {
	if slices.ContainsFunc(targets, func(other servingv1.TrafficTarget) bool { return sameKind(other, t) }) {
		return targets
	}
	return append(targets, t)
}

// sameKind tells whether Knative takes but one of two targets.
func sameKind(a, b servingv1.TrafficTarget) bool {
	return a.Tag == b.Tag && (a.Tag != "" || a.RevisionName == b.RevisionName)
}

// Targets is the traffic with the stable revision named and the candidate at
// its share. Below 100 % the candidate carries the tag. At 100 % it does not,
// and the stable revision stays at 0 % as previous where keep says so.
func (s Split) Targets(candidateTag string, keep bool) []servingv1.TrafficTarget {
	var targets []servingv1.TrafficTarget
	add := func(revision string, percent int, tag string) {
		targets = addTarget(targets, servingv1.TrafficTarget{
			RevisionName: revision, Percent: new(int64(percent)), LatestRevision: new(revision == ""), Tag: tag,
		})
	}
	previous, carrier := s.Previous, s.Stable
	switch {
	case s.Candidate == "":
		add(s.Stable, 100, s.tagOf(s.Stable))
	case s.Percent == 100:
		carrier = s.Candidate
		add(s.Candidate, 100, s.tagOf(s.Candidate))
		if s.Stable != s.Candidate {
			previous = s.Stable
		}
		if !keep {
			previous = ""
		}
	default:
		add(s.Stable, 100-s.Percent, s.tagOf(s.Stable))
		add(s.Candidate, s.Percent, candidateTag)
	}
	if previous != "" {
		add(previous, 0, PreviousTag)
	}
	for _, tag := range s.Moving {
		add(carrier, 0, tag)
	}
	for _, t := range s.Foreign {
		targets = addTarget(targets, t)
	}
	return targets
}

// tagOf is people's tag of the revision with the traffic, which its share stands under.
func (s Split) tagOf(revision string) string {
	if len(s.Moving) > 0 {
		return s.Moving[0]
	}
	for _, t := range s.Foreign {
		if t.RevisionName == revision && t.Tag != "" {
			return t.Tag
		}
	}
	return ""
}

// Follows tells whether no user's request goes to a target of whatever revision is the latest ready
// one.
func Follows(t servingv1.TrafficTarget) bool {
	return Percent(t) == 0 && t.RevisionName == "" && t.ConfigurationName == ""
}

// SameTraffic tells whether two manifests say the same of the traffic, as Knative
// reads it: an absent percent is 0, an absent latestRevision is true without a
// revision's name. The order counts, since a promotion writes it. Whether Knative
// routes as it should is another question, which package argo answers.
func SameTraffic(a, b []servingv1.TrafficTarget) bool {
	return slices.EqualFunc(a, b, func(x, y servingv1.TrafficTarget) bool {
		return x.RevisionName == y.RevisionName && x.Tag == y.Tag && Percent(x) == Percent(y) && x.ConfigurationName == y.ConfigurationName
	})
}

// LeftToLater is the traffic to write where it is rendered so: a tag that is there twice, or a
// revision at 0 % without one, is what somebody's later patch adds, and Knative takes each but once.
func LeftToLater(traffic, rendered []servingv1.TrafficTarget) (left []servingv1.TrafficTarget) {
	for _, t := range traffic {
		times := 0
		for _, o := range rendered {
			if sameKind(o, t) {
				times++
			}
		}
		twice := (t.Tag != "" || Percent(t) == 0) && times > 1
		if twice && Percent(t) == 0 {
			continue
		}
		if twice {
			t.Tag = ""
		}
		left = append(left, t)
	}
	return left
}

// Shares are the percentages of the revisions that have some, by name; the latest
// one has none.
func Shares(traffic []servingv1.TrafficTarget) map[string]int {
	shares := map[string]int{}
	for _, t := range traffic {
		if Percent(t) > 0 {
			shares[t.RevisionName] += Percent(t)
		}
	}
	return shares
}

// OrLatest names a revision for people: one without a name is whatever is newest.
func OrLatest(revision string) string {
	if revision == "" {
		return "the latest revision"
	}
	return revision
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
