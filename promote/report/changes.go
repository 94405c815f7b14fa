package report

import (
	"fmt"
	"slices"
	"strings"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/promote/event"
)

// changeTable is the table of what the promotion changes, and how far it is.
func changeTable(r event.Result) string {
	rows := ""
	if r.Image != "" || r.PreviousImage != "" {
		rows += tableRow("Image", cell(r.PreviousImage, maxName), cell(r.Image, maxName))
	}
	if r.Revision != "" || r.PreviousRevision != "" {
		rows += tableRow("Revision", cell(r.PreviousRevision, maxName), cell(r.Revision, maxName))
	}
	if len(r.Traffic) > 0 {
		rows += tableRow("Traffic now", trafficOf(r, r.PreviousRevision), trafficOf(r, r.Revision))
	}
	if rows == "" {
		return ""
	}
	return tableRow("", "From", "To") + "|---|---|---|\n" + rows + "\n" + otherTargets(r) + addressLine(r)
}

// addressLine shows the addresses as text: they come from the cluster.
func addressLine(r event.Result) string {
	var parts []string
	if r.URL != "" {
		parts = append(parts, "Service: "+code(r.URL, maxName))
	}
	if r.CandidateURL != "" && hasCandidate(r) {
		parts = append(parts, "candidate: "+code(r.CandidateURL, maxName))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " · ") + "\n\n"
}

// hasCandidate reports whether the new revision still has an address of its
// own. It goes with the candidate's tag, which the last commit of a promotion
// and one that rolls something back remove; other tags are other people's.
func hasCandidate(r event.Result) bool {
	if last, found := r.Last(); found && (last.Percent == 100 || last.RollsBack()) {
		return false
	}
	return slices.ContainsFunc(r.Traffic, func(target servingv1.TrafficTarget) bool {
		return target.RevisionName == r.Revision && target.Tag != "" && target.Tag != knative.PreviousTag
	})
}

// trafficOf is the traffic of one revision, and the tags it answers under.
func trafficOf(r event.Result, revision string) string {
	var percent int64
	var tags []string
	for _, target := range r.Traffic {
		if revision == "" || revisionOf(r, target) != revision {
			continue
		}
		if target.Percent != nil {
			percent += *target.Percent
		}
		if target.Tag != "" {
			tags = append(tags, ", tag "+cell(target.Tag, maxLabel))
		}
	}
	return fmt.Sprintf("**%d %%**%s", percent, strings.Join(tags[:min(len(tags), maxTags)], ""))
}

// revisionOf is the revision of a traffic target. Before the first promotion
// the traffic goes to the latest revision without naming it.
func revisionOf(r event.Result, target servingv1.TrafficTarget) string {
	if target.RevisionName == "" {
		return r.PreviousRevision
	}
	return target.RevisionName
}

// otherTargets counts the traffic entries that are not the promotion's: of
// revisions that it does not move, and without its own tag for the one before.
func otherTargets(r event.Result) string {
	n := 0
	for _, target := range r.Traffic {
		name := revisionOf(r, target)
		if name != r.Revision && name != r.PreviousRevision && target.Tag != knative.PreviousTag {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return plural(n, "more traffic target") + " kept as found.\n\n"
}
