package argo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/argoproj/argo-cd/v2/pkg/apis/application/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/internal/oneline"
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
		const format = "revision %s did not become ready in time: %s"
		if in.Restores {
			return wait(format+", and is awaited, as it has been ready before", ob.Revision.Name, Why(ready))
		}
		if appliedBefore(in, ob, ready.LastTransitionTime.Inner.Time) {
			return failed(format, ob.Revision.Name, Why(ready))
		}
		return troubled("revision", format, ob.Revision.Name, Why(ready)) // it may try again, now that it is wanted
	case "Unschedulable": // until the cluster has grown
		return wait("revision %s waits for a node: %s", ob.Revision.Name, Why(ready))
	}
	return troubled("revision", "revision %s is not ready: %s", ob.Revision.Name, Why(ready))
}

// appliedBefore tells whether a sync of the commit, or of the compared one, began before t.
func appliedBefore(in Intent, ob Observed, t time.Time) bool {
	state, revision := ob.App.Status.OperationState, syncRevision(in, ob.App)
	return state != nil && (revision == in.Commit || revision == compared(in, ob)) && !t.Before(state.StartedAt.Time)
}

// WaitsForPods tells whether a revision is not Ready for a pod that the cluster does not take yet: there is no node for
// it, or a quota or an admission webhook refuses one. Knative says so of one pod more, too, while all others serve, and no
// longer when that has passed.
// https://github.com/knative/serving/blob/knative-v1.15.2/pkg/apis/serving/v1/revision_lifecycle.go (PropagateDeploymentStatus)
func WaitsForPods(r *servingv1.Revision) bool {
	pods := r.Status.GetCondition(servingv1.RevisionConditionResourcesAvailable)
	if !pods.IsFalse() || r.Status.GetCondition(servingv1.RevisionConditionContainerHealthy).IsFalse() {
		return false
	}
	serves := r.Status.ActualReplicas != nil && *r.Status.ActualReplicas > 0
	return serves || pods.Reason == "FailedCreate" || pods.Reason == "Unschedulable"
}

// judgeThere makes sure that this is the Service that the wait is about.
func judgeThere(in Intent, ob Observed) *Verdict {
	switch s := ob.Service; {
	case s == nil:
		return troubled("missing", "the Service %s does not exist in the cluster", in.Service)
	case s.Name != in.Service:
		return failed("Argo CD answered with the Service %s instead of %s", oneline.Brief(s.Name), in.Service)
	case s.DeletionTimestamp != nil:
		return troubled("missing", "the Service %s is being deleted", in.Service)
	}
	return nil
}

// hint is about a live Service that differs from the intent. Argo CD says Synced even
// where its ignoreDifferences leave our fields out of both the comparison and the sync.
const hint = "does the application ignore this difference, or does something else write it?"

// judgeTemplate compares the live Service's template with the intent.
func judgeTemplate(in Intent, ob Observed) *Verdict {
	template := ob.Service.Spec.Template
	switch {
	case in.Revision != "" && template.Name != in.Revision:
		return troubled("drift", "the live Service's template is named %q and not %s: %s", oneline.Brief(template.Name), in.Revision, hint)
	case !hasImages(template.Spec.Containers, in.Images):
		return troubled("drift", "the live Service's images are %s and not %s: %s",
			describeImages(template.Spec.Containers), strings.Join(in.Images, ", "), imageHint(ob.App, template.Spec.Containers))
	case !hasImages(template.Spec.InitContainers, in.InitImages):
		return troubled("drift", "the live Service's init containers have the images %s and not %s: %s",
			describeImages(template.Spec.InitContainers), strings.Join(in.InitImages, ", "), imageHint(ob.App, template.Spec.InitContainers))
	}
	return nil
}

// imageHint is the hint about live images: the Application itself may set one over Git's.
func imageHint(app *v1alpha1.Application, live []corev1.Container) string {
	for _, source := range app.Spec.GetSources() {
		if source.Kustomize == nil {
			continue
		}
		for _, entry := range source.Kustomize.Images {
			_, image, renamed := strings.Cut(string(entry), "=")
			if !renamed {
				image = string(entry)
			}
			if slices.Contains(images(live), image) {
				return fmt.Sprintf("the application sets %s in its kustomize.images, whatever Git says", oneline.Brief(image))
			}
		}
	}
	return hint
}

// judgeSpec compares the live Service's traffic with the intent.
func judgeSpec(in Intent, ob Observed) *Verdict {
	s := ob.Service
	switch {
	case !sameRouting(s.Spec.Traffic, in.Traffic) && (ob.Shown == nil || !sameRouting(s.Spec.Traffic, ob.Shown)):
		return troubled("drift", "the live Service's traffic is %s and not %s: %s",
			oneline.Brief(describeRouting(s.Spec.Traffic)), describeRouting(in.Traffic), hint)
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

// hasImages tells whether the containers have the wanted images, if any are wanted.
func hasImages(containers []corev1.Container, wanted []string) bool {
	return len(wanted) == 0 || slices.Equal(images(containers), wanted)
}

func images(containers []corev1.Container) []string {
	var names []string
	for _, c := range containers {
		names = append(names, c.Image)
	}
	return names
}

func describeImages(containers []corev1.Container) string {
	return oneline.Brief(strings.Join(images(containers), ", "))
}

// judgeReady looks at the Service's own verdict.
func judgeReady(in Intent, ob Observed) *Verdict {
	s := ob.Service
	ready := s.Status.GetCondition(apis.ConditionReady)
	switch {
	case ready.IsFalse():
		return troubled("service", "%s is not ready: %s", in.Service, Why(ready))
	case !ready.IsTrue():
		return wait("%s is becoming ready: %s", in.Service, Why(ready))
	}
	created, latest := s.Status.LatestCreatedRevisionName, s.Status.LatestReadyRevisionName
	if want := wanted(in, ob); created != want || latest != want || want == "" {
		return wait("the latest revision is %q and the latest ready one %q, not yet %s", oneline.Brief(created), oneline.Brief(latest), want)
	}
	return nil
}

// judgeRoutes looks at the Service's verdict about its traffic alone. It is as new as
// status.traffic: Knative takes both from the Route at once
// (https://github.com/knative/serving/blob/knative-v1.15.2/pkg/apis/serving/v1/service_lifecycle.go#L130).
func judgeRoutes(in Intent, ob Observed) *Verdict {
	switch ready := ob.Service.Status.GetCondition(servingv1.ServiceConditionRoutesReady); {
	case ready.IsFalse():
		return troubled("routes", "the routes of %s are not ready: %s", in.Service, Why(ready))
	case !ready.IsTrue():
		return wait("the routes of %s are becoming ready: %s", in.Service, Why(ready))
	}
	return nil
}

// judgeTraffic compares what Knative routes with what the Service asks for.
func judgeTraffic(in Intent, ob Observed) *Verdict {
	got := ob.Service.Status.Traffic
	if !sameRouting(got, resolved(ob.Service)) {
		routed := "nothing"
		if len(got) > 0 {
			routed = oneline.Brief(describeRouting(got))
		}
		return wait("%s routes %s, not yet %s", in.Service, routed, oneline.Brief(describeRouting(ob.Service.Spec.Traffic)))
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
		return wait("revision %s is becoming ready: %s", r.Name, Why(ready))
	}
	switch {
	case !hasImages(r.Spec.Containers, in.Images):
		return failed("revision %s exists with the images %s and not %s",
			r.Name, describeImages(r.Spec.Containers), strings.Join(in.Images, ", "))
	case !hasImages(r.Spec.InitContainers, in.InitImages):
		return failed("revision %s exists with init containers of the images %s and not %s",
			r.Name, describeImages(r.Spec.InitContainers), strings.Join(in.InitImages, ", "))
	}
	if v := judgeDigests(in.Images, r.Spec.Containers, r.Status.ContainerStatuses, r.Name); v != nil {
		return v
	}
	return judgeDigests(in.InitImages, r.Spec.InitContainers, r.Status.InitContainerStatuses, r.Name)
}

// judgeDigests compares the digests that Knative resolved with those in the wanted images.
func judgeDigests(wanted []string, containers []corev1.Container, resolved []servingv1.ContainerStatus, revision string) *Verdict {
	for i, image := range wanted {
		_, digest, found := strings.Cut(image, "@")
		if !found {
			continue
		}
		for _, c := range resolved {
			if c.Name == containers[i].Name && c.ImageDigest != "" && !strings.HasSuffix(c.ImageDigest, "@"+digest) {
				return failed("revision %s runs %s and not %s", revision, oneline.Brief(c.ImageDigest), image)
			}
		}
	}
	return nil
}

// Why is a condition of Knative in words, such as "ExitCode1: Container failed".
func Why(c *apis.Condition) string {
	if c == nil {
		return "Knative has not said anything yet"
	}
	text := strings.Trim(c.Reason+": "+c.Message, ": ")
	if text == "" {
		text = "Ready is " + string(c.Status)
	}
	return oneline.Brief(text)
}

// withDefault is Knative's meaning of no traffic at all.
func withDefault(traffic []servingv1.TrafficTarget) []servingv1.TrafficTarget {
	if len(traffic) > 0 {
		return traffic
	}
	return []servingv1.TrafficTarget{{LatestRevision: new(true), Percent: new(int64(100))}}
}

// sameRouting tells whether Knative routes the same by both lists: in whatever order, and
// with its defaults filled in. Whether two manifests say the same is another question,
// which package knative answers.
func sameRouting(a, b []servingv1.TrafficTarget) bool {
	return slices.Equal(trafficLines(a), trafficLines(b))
}

func describeRouting(traffic []servingv1.TrafficTarget) string {
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
