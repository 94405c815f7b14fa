package check

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/internal/jsonpointer"
)

// trafficRules are about the traffic that the overlay renders, and the host
// names of its tags.
func trafficRules() []Rule {
	return []Rule{
		rule("revision-missing", findMissing), rule(Drifted, findDrifted), rule("revision-not-ready", findNotReady), rule("template-not-ready", findTemplateNotReady), rule("revision-failed", findFailed),
		rule("needs-missing", findNeedsMissing), rule("revision-waits-for-pods", findWaiting), rule("revision-name-taken", findNameTaken),
		rule("previous-tag-taken", findPreviousTaken), rule("rollout-duration", findRolloutDuration),
		rule("certificate-anew", findCertificate), rule("host-too-long", findLongHost),
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

// item is a target as evidence shows it.
func item(i int, t servingv1.TrafficTarget) string {
	return fmt.Sprintf("spec.traffic[%d] is %s", i, knative.Describe([]servingv1.TrafficTarget{t}))
}

func findMissing(f Facts) []found {
	var all []found
	for i, t := range f.traffic() {
		exists, asked := f.Revisions[t.RevisionName]
		if !asked || exists || t.RevisionName == f.Overlay.Revision() {
			continue
		}
		at, later := f.inTarget(i)
		all = append(all, found{at: at, values: values{
			"Later": later, "Revision": t.RevisionName, "Percent": knative.Percent(t), "Item": item(i, t), "Missed": missed(f.Service, t.RevisionName), "Owned": f.Overlay.Owned(),
			"Patch": f.patch(change{Op: "remove", Path: jsonpointer.Join("spec", "traffic", i)}),
		}})
	}
	return all
}

func findNotReady(f Facts) []found {
	var all []found
	for i, t := range f.traffic() {
		name, follows := t.RevisionName, knative.Follows(t)
		if follows && f.Service != nil && f.NotReady[f.Overlay.Revision()] != "" {
			name = f.Service.Status.LatestReadyRevisionName // else Knative takes the template's own
		}
		why := f.NotReady[name]
		if why == "" || t.RevisionName == f.Overlay.Revision() && knative.Percent(t) == 0 || f.waiting(name, t) {
			continue
		}
		at, later := f.inTarget(i)
		all = append(all, found{at: at, values: values{
			"Later": later, "Revision": name, "Follows": follows, "Why": why, "Percent": knative.Percent(t), "Item": item(i, t),
		}})
	}
	return all
}

// waiting tells whether a revision of a target with traffic keeps the steps of a promotion from being routed for
// as long as the cluster takes no further pod of it.
func (f Facts) waiting(revision string, t servingv1.TrafficTarget) bool {
	return f.WaitsForPods[revision] && f.Request.Shifts && knative.Percent(t) > 0
}

func findWaiting(f Facts) []found {
	var all []found
	for i, t := range f.traffic() {
		if name := t.RevisionName; f.waiting(name, t) {
			all = append(all, found{at: f.inService("spec", "traffic", i, "revisionName"), values: values{"Revision": name, "Percent": knative.Percent(t), "Why": f.NotReady[name], "Item": item(i, t)}})
		}
	}
	return all
}

// findTemplateNotReady is about what a rollback has left in the overlay beside the traffic.
func findTemplateNotReady(f Facts) []found {
	if f.Overlay == nil {
		return nil
	}
	name := f.Overlay.Revision()
	named := func(t servingv1.TrafficTarget) bool {
		return t.RevisionName == name || t.RevisionName == "" && !knative.Follows(t)
	}
	if f.NotReady[name] == "" || len(f.traffic()) == 0 || slices.ContainsFunc(f.traffic(), named) {
		return nil
	}
	return []found{{at: f.inService("spec", "template"), values: values{"Revision": name, "Why": f.NotReady[name], "Traffic": knative.Describe(f.traffic())}}}
}

// findFailed is about a revision that an earlier promotion of the same template has left.
func findFailed(f Facts) []found {
	if f.Next == nil {
		return nil
	}
	name, err := f.Next.NextRevision()
	if err != nil || f.NotReady[name] == "" || f.Overlay.Revision() == name || knative.Shares(f.traffic())[name] > 0 {
		return nil
	}
	return []found{{at: f.inService("spec", "template"), values: values{"Revision": name, "Why": f.NotReady[name]}}}
}

// findNeedsMissing is about what a rollback has not brought back beside the revision.
func findNeedsMissing(f Facts) []found {
	var all []found
	shares := knative.Shares(f.traffic())
	for _, name := range slices.Sorted(maps.Keys(f.Missing)) {
		if shares[name] == 0 || len(f.Missing[name]) == 0 {
			continue
		}
		all = append(all, found{at: f.inService("spec", "traffic"), values: values{"Revision": name, "Percent": shares[name], "Missing": knative.Names(f.Missing[name])}})
	}
	return all
}

// findNameTaken is about a template that the cluster completes otherwise than when its revision was made.
func findNameTaken(f Facts) []found {
	if !knative.NameTaken(f.Service) || f.Service.Spec.Template.Name != f.Overlay.Revision() {
		return nil
	}
	return []found{{at: f.inService("spec", "template", "metadata", "name"), values: values{
		"Revision": f.Overlay.Revision(), "Traffic": knative.Describe(f.Service.Status.Traffic),
		"Message": f.Service.Status.GetCondition(servingv1.ServiceConditionRoutesReady).GetMessage(),
	}}}
}

// missed is what the live Service says of a revision that its routes miss.
func missed(service *servingv1.Service, revision string) string {
	if service == nil {
		return ""
	}
	for _, c := range service.Status.Conditions {
		if c.Reason == "RevisionMissing" && strings.Contains(c.Message, strconv.Quote(revision)) && c.IsFalse() {
			return c.Message
		}
	}
	return ""
}

// foreignCandidate is the target that has the candidate's tag, but not from a
// promotion; -1 for none.
func foreignCandidate(f Facts) (revision string, target int) {
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

func findPreviousTaken(f Facts) []found {
	for i, t := range f.traffic() {
		if f.Overlay.Owned() || t.Tag != knative.PreviousTag || t.RevisionName == "" {
			continue
		}
		return []found{{at: f.inService("spec", "traffic", i, "tag"), values: values{
			"Tag": t.Tag, "Revision": t.RevisionName, "Kept": f.Request.KeepPrevious, "Item": item(i, t),
			"Patch": f.patch(change{Op: "replace", Path: jsonpointer.Join("spec", "traffic", i, "tag"), Value: "pinned"}),
		}}}
	}
	return nil
}

// findRolloutDuration warns where Knative's rollout holds up promotions.
// https://github.com/knative/serving/blob/v0.42.2/pkg/reconciler/route/traffic/traffic.go#L239-L265
func findRolloutDuration(f Facts) []found {
	const key = "serving.knative.dev/rollout-duration"
	value := rendered(f.Next).Annotations[key]
	duration, err := time.ParseDuration(value)
	if err != nil || duration == 0 {
		return nil
	}
	tag, items := "", []string(nil)
	for i, t := range f.traffic() {
		if knative.Follows(t) && t.Tag != "" {
			tag, items = t.Tag, append(items, item(i, t))
		}
	}
	return []found{{severity: warningIf(tag != ""), at: f.inService("metadata", "annotations", key), values: values{
		"Duration": duration, "Key": key, "Value": value, "Tag": tag, "Items": items,
		"Patch": f.patch(change{Op: "remove", Path: jsonpointer.Join("metadata", "annotations", key)}),
	}}}
}

// maxLabel is the longest part of a host name between two dots.
const maxLabel = 63

// findLongHost learns from the live Service how the cluster makes host names.
// Without more than the default it is the promotion itself that refuses.
func findLongHost(f Facts) []found {
	at := f.Service.Status.URL
	if at == nil || f.Next == nil || !strings.HasPrefix(at.Host, f.Service.Name) {
		return nil
	}
	if tagged, ok := taggedHost(f.Service); ok && tagged.host != tagged.tag+"-"+at.Host {
		return nil // another tag-template
	}
	var all []found
	for _, tag := range newTags(f.Request) {
		long := tag + "-" + at.Host
		first, _, _ := strings.Cut(long, ".")
		if len(first) <= maxLabel || len(tag)+1+len(f.Service.Name) > maxLabel {
			continue
		}
		all = append(all, found{values: values{
			"Tag": tag, "Host": long, "First": first, "Most": maxLabel, "URL": at, "Previous": tag == knative.PreviousTag, "Room": maxLabel - (len(first) - len(tag)),
		}})
	}
	return all
}

// newTags are the tags that a promotion brings in.
func newTags(r Request) []string {
	var tags []string
	if r.Shifts && r.CandidateTag != "" {
		tags = append(tags, r.CandidateTag)
	}
	if r.KeepPrevious {
		tags = append(tags, knative.PreviousTag)
	}
	return tags
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
