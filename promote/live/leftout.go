package live

import (
	"fmt"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// LeftOut says in words which targets of some traffic stand no more in what was
// committed, and whose they were, beside the Service as last seen live; nil: it was not.
func LeftOut(wanted, committed []servingv1.TrafficTarget, seen *servingv1.Service, why func(revision string) string) (words []string) {
	for i, t := range wanted {
		if knative.Among(wanted[:i], t) {
			continue
		}
		there := knative.Among(committed, t)
		revision, what := t.RevisionName, "revision "+t.RevisionName
		if latest := latestReady(seen); knative.Follows(t) {
			revision, what = latest, fmt.Sprintf("the latest revision, %s,", latest)
		}
		if there || revision == "" || knative.Percent(t) > 0 {
			continue
		}
		if t.Tag == knative.PreviousTag && knative.Shares(committed)[t.RevisionName] > 0 {
			continue // it is what is rolled back to, so it is not the previous one any more
		}
		whose := "somebody's target without a tag"
		switch t.Tag {
		case "":
		case knative.PreviousTag:
			whose = "the tag previous, which is ours,"
		default:
			whose = fmt.Sprintf("somebody's tag %s", t.Tag)
		}
		words = append(words, fmt.Sprintf("%s is left out of the traffic: %s %s, so Knative would route nothing anew", whose, what, why(revision)))
	}
	return words
}

// latestReady is the latest ready revision of a Service; empty: there is none, or it is not known.
func latestReady(seen *servingv1.Service) string {
	if seen == nil {
		return ""
	}
	return seen.Status.LatestReadyRevisionName
}
