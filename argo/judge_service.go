package argo

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// judgeRevisionFailed ends the wait for a revision that will not become ready.
func judgeRevisionFailed(in Intent, ob Observed) *Verdict {
	if ob.Revision == nil || ob.Revision.Name != wanted(in, ob) {
		return nil
	}
	ready := ob.Revision.Status.GetCondition(apis.ConditionReady)
	if !ready.IsFalse() {
		return nil
	}
	switch ready.Reason {
	case "ProgressDeadlineExceeded": // Knative waited this long itself
		return failed("revision %s did not become ready in time: %s", ob.Revision.Name, why(ready))
	case "Unschedulable": // until the cluster has grown
		return wait("revision %s waits for a node: %s", ob.Revision.Name, why(ready))
	}
	return troubled("revision", "revision %s is not ready: %s", ob.Revision.Name, why(ready))
}

// judgeSpec compares the live Service with the intent. Argo CD says Synced even where
// its ignoreDifferences leave our fields out of both the comparison and the sync.
func judgeSpec(in Intent, ob Observed) *Verdict {
	s := ob.Service
	if s == nil {
		return troubled("missing", "the Service %s does not exist in the cluster", in.Service)
	}
	const hint = "does the application ignore this difference, or does something else write it?"
	switch {
	case s.Name != in.Service:
		return failed("Argo CD answered with the Service %s instead of %s", clean(s.Name), in.Service)
	case s.DeletionTimestamp != nil:
		return troubled("missing", "the Service %s is being deleted", in.Service)
	case in.Revision != "" && s.Spec.Template.Name != in.Revision:
		return troubled("drift", "the live Service's template is named %q and not %s: %s", clean(s.Spec.Template.Name), in.Revision, hint)
	case len(in.Images) > 0 && !slices.Equal(images(s.Spec.Template.Spec.Containers), in.Images):
		return troubled("drift", "the live Service's images are %s and not %s: %s",
			clean(strings.Join(images(s.Spec.Template.Spec.Containers), ", ")), strings.Join(in.Images, ", "), hint)
	case !sameTraffic(s.Spec.Traffic, in.Traffic):
		return troubled("drift", "the live Service's traffic is %s and not %s: %s",
			clean(describeTraffic(s.Spec.Traffic)), describeTraffic(in.Traffic), hint)
	case s.Generation != s.Status.ObservedGeneration:
		return wait("Knative has not seen generation %d of %s yet", s.Generation, in.Service)
	}
	return nil
}

// wanted is the name of the revision that the intent is about. A generated one is not
// known before Knative has dealt with the present template.
func wanted(in Intent, ob Observed) string {
	if in.Revision == "" && !ob.Service.Status.GetCondition(apis.ConditionReady).IsUnknown() {
		return ob.Service.Status.LatestCreatedRevisionName
	}
	return in.Revision
}

func images(containers []corev1.Container) []string {
	var names []string
	for _, c := range containers {
		names = append(names, c.Image)
	}
	return names
}

// judgeReady looks at the Service's own verdict.
func judgeReady(in Intent, ob Observed) *Verdict {
	s := ob.Service
	ready := s.Status.GetCondition(apis.ConditionReady)
	switch {
	case ready.IsFalse():
		return troubled("service", "%s is not ready: %s", in.Service, why(ready))
	case !ready.IsTrue():
		return wait("%s is becoming ready: %s", in.Service, why(ready))
	}
	created, latest := s.Status.LatestCreatedRevisionName, s.Status.LatestReadyRevisionName
	if want := wanted(in, ob); created != want || latest != want || want == "" {
		return wait("the latest revision is %q and the latest ready one %q, not yet %s", clean(created), clean(latest), want)
	}
	return nil
}

// judgeTraffic compares what Knative routes with what the Service asks for.
func judgeTraffic(in Intent, ob Observed) *Verdict {
	got := ob.Service.Status.Traffic
	if !sameTraffic(got, resolved(ob.Service)) {
		routed := "nothing"
		if len(got) > 0 {
			routed = clean(describeTraffic(got))
		}
		return wait("%s routes %s, not yet %s", in.Service, routed, clean(describeTraffic(ob.Service.Spec.Traffic)))
	}
	return nil
}

// resolved is the spec's traffic with the name of the revision that "latest" means, as
// status.traffic has it.
func resolved(s *servingv1.Service) []servingv1.TrafficTarget {
	targets := slices.Clone(withDefault(s.Spec.Traffic))
	for i := range targets {
		if targets[i].RevisionName == "" {
			targets[i].RevisionName = s.Status.LatestReadyRevisionName
			targets[i].LatestRevision = new(true)
		}
	}
	return targets
}

// judgeRevision looks at the revision behind the Service.
func judgeRevision(in Intent, ob Observed) *Verdict {
	r, want := ob.Revision, wanted(in, ob)
	if r == nil || r.Name != want {
		return wait("revision %s has not been read yet", want)
	}
	if ready := r.Status.GetCondition(apis.ConditionReady); !ready.IsTrue() || r.Status.ObservedGeneration != r.Generation {
		return wait("revision %s is becoming ready: %s", r.Name, why(ready))
	}
	if len(in.Images) > 0 && !slices.Equal(images(r.Spec.Containers), in.Images) {
		return failed("revision %s exists with the images %s and not %s", r.Name, clean(strings.Join(images(r.Spec.Containers), ", ")), strings.Join(in.Images, ", "))
	}
	return judgeDigests(in, r)
}

// judgeDigests compares the digests that Knative resolved with those in the intent.
func judgeDigests(in Intent, r *servingv1.Revision) *Verdict {
	for i, image := range in.Images {
		_, digest, found := strings.Cut(image, "@")
		if !found {
			continue
		}
		for _, c := range r.Status.ContainerStatuses {
			if c.Name == r.Spec.Containers[i].Name && c.ImageDigest != "" && !strings.HasSuffix(c.ImageDigest, "@"+digest) {
				return failed("revision %s runs %s and not %s", r.Name, clean(c.ImageDigest), image)
			}
		}
	}
	return nil
}

// why is a condition in words.
func why(c *apis.Condition) string {
	if c == nil {
		return "Knative has not said anything yet"
	}
	text := strings.Trim(c.Reason+": "+c.Message, ": ")
	if text == "" {
		text = "Ready is " + string(c.Status)
	}
	return clean(text)
}

// withDefault is Knative's meaning of no traffic at all.
func withDefault(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	if len(traffic) > 0 {
		return traffic
	}
	return []servingv1.TrafficTarget{{LatestRevision: new(true), Percent: new(int64(100))}}
}

// sameTraffic compares two lists in any order, with Knative's defaults filled in.
func sameTraffic(a, b []servingv1.TrafficTarget) bool {
	return slices.Equal(trafficLines(a), trafficLines(b))
}

func describeTraffic(traffic []servingv1.TrafficTarget) string {
	return strings.Join(trafficLines(traffic), ", ")
}

func trafficLines(traffic []servingv1.TrafficTarget) []string {
	var lines []string
	for _, t := range withDefault(traffic) {
		name, percent := t.RevisionName, int64(0)
		if t.LatestRevision != nil && *t.LatestRevision || name == "" {
			name = strings.TrimSpace("latest " + name)
		}
		if t.Percent != nil {
			percent = *t.Percent
		}
		line := fmt.Sprintf("%d %% to %s", percent, name)
		if t.Tag != "" {
			line += " as " + t.Tag
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}
