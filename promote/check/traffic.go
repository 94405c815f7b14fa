package check

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
	"github.com/acme/knative-promote/promote/event"
)

// trafficRules are about the traffic that the overlay renders, and the host
// names of its tags.
func trafficRules() []Rule {
	const management = "https://knative.dev/docs/serving/traffic-management/"
	return []Rule{
		{
			ID: "revision-missing", Severity: event.SeverityWarning, Find: findMissing, Link: management,
			Summary: "the traffic names a revision that does not exist",
		},
		{
			ID: Drifted, Severity: event.SeverityError, Find: findDrifted, Link: "https://argo-cd.readthedocs.io/en/stable/user-guide/commands/argocd_app_rollback/",
			Summary: "others have the traffic than Git says",
		},
		{
			ID: "revision-not-ready", Severity: event.SeverityWarning, Find: findNotReady, Link: management,
			Summary: "the traffic names a revision that is not Ready",
		},
		{
			ID: "previous-tag-taken", Severity: event.SeverityWarning, Find: findPreviousTaken, Link: management,
			Summary: "the tag that the old revision gets is somebody else's",
		},
		{
			ID: "rollout-duration", Severity: event.SeverityInfo, Find: findRolloutDuration,
			Summary: "Knative's own gradual rollout is asked for",
			Link:    "https://knative.dev/docs/serving/rolling-out-latest-revision/",
		},
		{
			ID: "certificate-anew", Severity: event.SeverityInfo, Find: findCertificate,
			Summary: "the candidate's host needs a certificate anew with each promotion, where Knative issues one for each host",
			Link:    "https://knative.dev/docs/serving/encryption/external-domain-tls/",
		},
		{
			ID: "host-too-long", Severity: event.SeverityError, Find: findLongHost,
			Summary: "a tag makes a host name that Knative cannot serve",
			Link:    "https://pkg.go.dev/knative.dev/networking/pkg/config#pkg-constants",
		},
	}
}

// traffic is what the overlay renders; none when it cannot be read.
func (f Facts) traffic() []servingv1.TrafficTarget {
	if f.Overlay == nil {
		return nil
	}
	traffic, err := f.Overlay.Traffic()
	if err != nil {
		return nil
	}
	return traffic
}

// findMissing does not mind the revision that the template is about to make.
// It only warns of one that a promotion takes out of the traffic, and of one
// that Knative does not miss: Argo CD can be told not to look at revisions.
func findMissing(f Facts) []event.Finding {
	var found []event.Finding
	for i, t := range f.traffic() {
		exists, asked := f.Revisions[t.RevisionName]
		if !asked || exists || t.RevisionName == f.Overlay.Revision() {
			continue
		}
		at := f.inService("spec", "traffic", i, "revisionName")
		finding := event.Finding{
			Problem: fmt.Sprintf("the traffic of Service %s names revision %s, which does not exist", f.Overlay.Service(), t.RevisionName),
			Effect: "Where it is truly gone, Knative changes nothing of the Service's routes, also if the target is at 0 %: the Service is " +
				"RevisionMissing. " + onward(t),
			Evidence: fmt.Sprintf("spec.traffic[%d] is %s; Argo CD has no such revision in the Application", i, knative.Describe([]servingv1.TrafficTarget{t})),
			Fix:      "Take the target out of the traffic.\n" + f.patch(change{Op: "remove", Path: jsonpointer.Join("spec", "traffic", i)}),
			File:     at.File, Line: at.Line,
		}
		if missed := f.missed(t.RevisionName); missed != "" {
			finding.Effect = "Knative changes nothing of the Service's routes while one target is missing, also at 0 %. " + onward(t)
			finding.Evidence += "\nthe live Service says: " + missed
		}
		if f.Overlay.Owned() {
			finding.Fix = fmt.Sprintf("Take the item at line %d out of the traffic in %s.", at.Line, at.File)
		}
		found = append(found, finding)
	}
	return found
}

// onward is what the next promotion does about a target that Knative cannot route
// to.
func onward(t servingv1.TrafficTarget) string {
	if knative.Percent(t) > 0 {
		return "The next promotion gives the new revision all traffic in one step."
	}
	return "The next promotion or rollback leaves this one out."
}

// findNotReady does not mind the revision of the template, which a commit may
// have made just now.
func findNotReady(f Facts) []event.Finding {
	var found []event.Finding
	for i, t := range f.traffic() {
		why := f.NotReady[t.RevisionName]
		if why == "" || t.RevisionName == f.Overlay.Revision() && knative.Percent(t) == 0 {
			continue
		}
		at := f.inService("spec", "traffic", i, "revisionName")
		found = append(found, event.Finding{
			Problem:  fmt.Sprintf("the traffic of Service %s names revision %s, which %s", f.Overlay.Service(), t.RevisionName, why),
			Effect:   "Knative changes nothing of the Service's routes while one target is not Ready, also at 0 %. " + onward(t),
			Evidence: fmt.Sprintf("spec.traffic[%d] is %s", i, knative.Describe([]servingv1.TrafficTarget{t})),
			Fix:      "Correct what keeps the revision from being Ready, or promote an image that is good.",
			File:     at.File, Line: at.Line,
		})
	}
	return found
}

// missed is what the live Service says of a revision that its routes miss.
func (f Facts) missed(revision string) string {
	if f.Service == nil {
		return ""
	}
	for _, c := range f.Service.Status.Conditions {
		if c.Reason == "RevisionMissing" && strings.Contains(c.Message, strconv.Quote(revision)) && c.IsFalse() {
			return c.Message
		}
	}
	return ""
}

// foreignCandidate is the target that has the candidate's tag, but not from a
// promotion; -1 for none.
func (f Facts) foreignCandidate() (revision string, target int) {
	if f.Overlay == nil || f.Overlay.Owned() || f.Request.CandidateTag == "" {
		return "", -1
	}
	traffic := f.traffic()
	i := slices.IndexFunc(traffic, func(t servingv1.TrafficTarget) bool { return t.Tag == f.Request.CandidateTag })
	if i < 0 {
		return "", -1
	}
	return traffic[i].RevisionName, i
}

func findPreviousTaken(f Facts) []event.Finding {
	if f.Overlay == nil || f.Overlay.Owned() {
		return nil
	}
	for i, t := range f.traffic() {
		if t.Tag != knative.PreviousTag || t.RevisionName == "" {
			continue
		}
		at := f.inService("spec", "traffic", i, "tag")
		effect := "The first promotion gives the tag to the revision that had the traffic before."
		if !f.Request.KeepPrevious {
			effect = "The first promotion takes the tag away."
		}
		return []event.Finding{{
			Problem:  fmt.Sprintf("the tag %q of Service %s is on revision %s already", t.Tag, f.Overlay.Service(), t.RevisionName),
			Effect:   effect + " Whoever asks its URL gets another answer, or none, from then on.",
			Evidence: fmt.Sprintf("spec.traffic[%d] is %s, and knative-promote has not written it", i, knative.Describe([]servingv1.TrafficTarget{t})),
			Fix:      "Give it another tag.\n" + f.patch(change{Op: "replace", Path: jsonpointer.Join("spec", "traffic", i, "tag"), Value: "pinned"}),
			File:     at.File, Line: at.Line,
		}}
	}
	return nil
}

// findRolloutDuration knows that Knative's own rollout is for targets that
// follow the latest revision. Promotions name theirs, but keep such a target
// where it has a tag, and then the Service is not Ready until it is through.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/route/traffic/traffic.go#L239-L265
func findRolloutDuration(f Facts) []event.Finding {
	service := rendered(f.Next)
	const key = "serving.knative.dev/rollout-duration"
	if service == nil {
		return nil
	}
	duration, err := time.ParseDuration(service.Annotations[key])
	if err != nil || duration == 0 {
		return nil
	}
	at := f.inService("metadata", "annotations", key)
	finding := event.Finding{
		Problem:  fmt.Sprintf("Service %s asks for Knative's own gradual rollout, of %s", f.Next.Service(), duration),
		Effect:   "None on promotions: the rollout is for traffic to the latest revision, theirs goes to named ones. Their steps alone decide.",
		Evidence: fmt.Sprintf("metadata.annotations.%s: %q", key, service.Annotations[key]),
		Fix:      "Take it out where nothing else needs it.\n" + f.patch(change{Op: "remove", Path: jsonpointer.Join("metadata", "annotations", key)}),
		File:     at.File, Line: at.Line,
	}
	for i, t := range f.traffic() {
		if t.RevisionName == "" && t.Tag != "" {
			finding.Severity = event.SeverityWarning
			finding.Effect = fmt.Sprintf("The tag %q follows the latest revision, so every promotion's first commit is live only after %s more. "+
				"With a shorter wait-timeout it fails.", t.Tag, duration)
			finding.Evidence += fmt.Sprintf("\nspec.traffic[%d] is %s", i, knative.Describe([]servingv1.TrafficTarget{t}))
		}
	}
	return []event.Finding{finding}
}

// maxLabel is the longest part of a host name between two dots.
const maxLabel = 63

// findLongHost learns from the live Service how the cluster makes host names.
// Without more than the default it is the promotion itself that refuses.
func findLongHost(f Facts) []event.Finding {
	if f.Service == nil || f.Service.Status.URL == nil || f.Next == nil || !strings.HasPrefix(f.Service.Status.URL.Host, f.Service.Name) {
		return nil
	}
	host := f.Service.Status.URL.Host
	if tagged, ok := taggedHost(f.Service); ok && tagged.host != tagged.tag+"-"+host {
		return nil // another tag-template
	}
	var found []event.Finding
	for _, tag := range f.newTags() {
		long := tag + "-" + host
		first, _, _ := strings.Cut(long, ".")
		if len(first) <= maxLabel || len(tag)+1+len(f.Service.Name) > maxLabel {
			continue
		}
		found = append(found, event.Finding{
			Problem: fmt.Sprintf("the tag %q and the name of Service %s make the host name %s", tag, f.Service.Name, long),
			Effect: fmt.Sprintf("Knative cannot serve it: %s has %d characters and %d are possible. The Service becomes ErrorConfig, and the promotion is rolled back.",
				first, len(first), maxLabel),
			Evidence: fmt.Sprintf("the live Service's URL is %s, and a tag comes before it (domain-template and tag-template in config-network)", f.Service.Status.URL),
			Fix:      shorter(tag, maxLabel-(len(first)-len(tag))),
		})
	}
	return found
}

// newTags are the tags that a promotion brings in.
func (f Facts) newTags() []string {
	var tags []string
	if f.Request.Shifts && f.Request.CandidateTag != "" {
		tags = append(tags, f.Request.CandidateTag)
	}
	if f.Request.KeepPrevious {
		tags = append(tags, knative.PreviousTag)
	}
	return tags
}

func shorter(tag string, room int) string {
	switch {
	case tag == knative.PreviousTag:
		return "Set the input keep-previous to false, or give the Service a shorter name."
	case room < 1:
		return "Give the Service a shorter name: there is no room for any tag."
	}
	return fmt.Sprintf("Set the input candidate-tag to one of at most %s.", count(room, "character"))
}

type tagHost struct{ tag, host string }

// taggedHost is the host name of a tag that the live Service has.
func taggedHost(service *servingv1.Service) (tagHost, bool) {
	for _, t := range service.Status.Traffic {
		if t.Tag != "" && t.URL != nil {
			return tagHost{t.Tag, (*url.URL)(t.URL).Host}, true
		}
	}
	return tagHost{}, false
}
