package cluster

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"knative.dev/pkg/ptr"
	"knative.dev/serving/pkg/apis/serving"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// behaviour is what an image's reference says about its containers.
type behaviour struct {
	broken  bool
	http500 bool
	slow    time.Duration // until ready
	crash   time.Duration // from ready to failed; 0: never
	lag     time.Duration // of each answer
	fail    int           // of a hundred answers are a 500
}

func behaviourOf(rev *servingv1.Revision) behaviour {
	var images []string
	for _, container := range rev.Spec.Containers {
		images = append(images, container.Image)
		for _, e := range container.Env {
			images = append(images, e.Value)
		}
	}
	all := strings.Join(images, " ")
	b := behaviour{
		broken:  strings.Contains(all, "broken"),
		http500: strings.Contains(all, "http500"),
		slow:    number(all, "slow", time.Second),
		lag:     number(all, "lag", time.Millisecond),
		crash:   number(all, "crash", time.Second),
		fail:    int(number(all, "fail", 1)),
	}
	if strings.Contains(all, "crash") && b.crash == 0 {
		b.crash = 5 * time.Second
	}
	return b
}

// number finds word followed by digits in text.
func number(text, word string, unit time.Duration) time.Duration {
	match := regexp.MustCompile(word + `(\d{1,6})`).FindStringSubmatch(text)
	if match == nil {
		return 0
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		return 0
	}
	return time.Duration(n) * unit
}

// reconcileRevision writes the states that Knative's revision reconciler passes through.
func (r *reconciler) reconcileRevision(rev *servingv1.Revision) {
	before := rev.DeepCopy()
	begin(rev)
	r.revision(rev)
	r.end(rev, before)
	if live := r.write.revisions[keyOf(rev)]; live == nil || live.ResourceVersion != before.ResourceVersion {
		return
	}
	store(r, r.write.revisions, rev, before, false)
}

func (r *reconciler) revision(rev *servingv1.Revision) {
	status := &rev.Status
	active := status.GetCondition(servingv1.RevisionConditionActive)
	switch {
	case len(status.ContainerStatuses) == 0 && status.ObservedGeneration == 0:
		status.MarkResourcesAvailableUnknown(servingv1.ReasonResolvingDigests, "")
	case len(status.ContainerStatuses) == 0:
		status.ContainerStatuses = containerStatuses(rev)
		status.MarkActiveUnknown(servingv1.ReasonDeploying, "")
		status.MarkContainerHealthyUnknown(servingv1.ReasonDeploying, "")
		status.MarkResourcesAvailableUnknown(servingv1.ReasonDeploying, "")
	case active.GetReason() == servingv1.ReasonDeploying:
		status.MarkActiveUnknown("Queued", "Requests to the target are being buffered as resources are provisioned.")
		status.MarkResourcesAvailableUnknown(servingv1.ReasonDeploying, "")
		status.ActualReplicas = ptr.Int32(0)
	default:
		r.settle(rev)
	}
}

// settle decides by the image and the time whether the revision's pods are well.
func (r *reconciler) settle(rev *servingv1.Revision) {
	status, age, b := &rev.Status, r.now.Sub(rev.CreationTimestamp.Time), behaviourOf(rev)
	switch {
	case b.broken && age >= r.config.ProgressDeadline:
		status.MarkActiveFalse("NoTraffic", "The target is not receiving traffic.")
		status.MarkResourcesAvailableFalse(servingv1.ReasonProgressDeadlineExceeded, "Initial scale was never achieved")
	case b.broken && age >= r.config.PullBackOff:
		status.MarkResourcesAvailableFalse("ImagePullBackOff", "Back-off pulling image "+rev.Spec.Containers[0].Image)
	case b.broken:
		status.MarkResourcesAvailableTrue() // the Deployment exists; only its containers are not well
	case age < b.slow:
		status.MarkResourcesAvailableUnknown(servingv1.ReasonDeploying, "")
	case rev.Annotations[crashed] != "", b.crash > 0 && r.readyFor(rev) >= b.crash:
		status.MarkContainerHealthyFalse(servingv1.ExitCodeReason(1), servingv1.RevisionContainerExitingMessage("exit status 1"))
	case status.GetCondition(servingv1.RevisionConditionContainerHealthy).IsFalse():
	case r.withoutPod(rev):
	case rev.Annotations[full] == "true":
		status.MarkResourcesAvailableFalse("FailedCreate", `pods "`+rev.Name+`" is forbidden: exceeded quota`)
	default:
		status.MarkActiveTrue()
		status.MarkContainerHealthyTrue()
		status.MarkResourcesAvailableTrue()
		status.ActualReplicas = ptr.Int32(1)
	}
}

func (r *reconciler) readyFor(rev *servingv1.Revision) time.Duration {
	if ready := rev.Status.GetCondition(servingv1.RevisionConditionReady); ready.IsTrue() {
		return r.now.Sub(ready.LastTransitionTime.Inner.Time)
	}
	return 0
}

// containerStatuses resolves tags to digests. There is no registry, so a tag's digest is made up
// from its name.
func containerStatuses(rev *servingv1.Revision) []servingv1.ContainerStatus {
	var statuses []servingv1.ContainerStatus
	for _, container := range rev.Spec.Containers {
		digest := container.Image
		if !strings.Contains(digest, "@") {
			repository := container.Image
			if colon := strings.LastIndex(repository, ":"); colon > strings.LastIndex(repository, "/") {
				repository = repository[:colon]
			}
			digest = fmt.Sprintf("%s@sha256:%x", repository, sha256.Sum256([]byte(container.Image)))
		}
		statuses = append(statuses, servingv1.ContainerStatus{Name: container.Name, ImageDigest: digest})
	}
	return statuses
}

// crashed marks a Revision whose containers exit from now on.
const crashed = "argotest/crashed"

// Crash lets the containers of a Revision exit from now on, and reports whether it is there.
func (c *Cluster) Crash(namespace, name string) bool {
	return c.annotate(namespace, name, crashed, "true")
}

// full marks a Revision of which the cluster takes no further pod, whose own go on to serve.
const full = "argotest/full"

// Fill has the cluster take no further pod of a Revision, or take it again, and reports whether the Revision is there.
func (c *Cluster) Fill(namespace, name string, is bool) bool {
	return c.annotate(namespace, name, full, strconv.FormatBool(is))
}

// annotate changes how a Revision behaves.
func (c *Cluster) annotate(namespace, name, annotation, value string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key{namespace, name}
	rev := c.objects.revisions[k].DeepCopy()
	if rev == nil {
		return false
	}
	if rev.Annotations == nil {
		rev.Annotations = map[string]string{}
	}
	rev.Annotations[annotation] = value
	rev.ResourceVersion = strconv.FormatInt(c.nextVersion(), 10)
	c.objects.revisions[k] = rev
	c.touch()
	return true
}

// history is what has been true of a revision.
type history struct {
	service  string
	wasReady bool
}

// remember notes what the revisions are; c.mu is held.
func (c *Cluster) remember() {
	for k, rev := range c.objects.revisions {
		c.seen[k] = history{rev.Labels[serving.ServiceLabelKey], rev.IsReady() || c.seen[k].wasReady}
	}
}

// WasReady returns the names of all revisions that a Service has had, and whether each has been
// Ready, whatever has become of it since.
func (c *Cluster) WasReady(namespace, service string) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]bool{}
	for k, of := range c.seen {
		if k.namespace == namespace && of.service == service {
			found[k.name] = of.wasReady
		}
	}
	return found
}

// nextEvent returns how long it takes until a revision changes by itself.
func (c *Cluster) nextEvent() (time.Duration, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, soonest, found := c.config.Clock.Now(), time.Duration(0), false
	if c.held {
		return 0, false
	}
	for _, rev := range c.objects.revisions {
		for _, at := range c.events(rev) {
			if d := at.Sub(now); !found || d < soonest {
				soonest, found = max(d, 0), true
			}
		}
	}
	return soonest, found
}

// events returns when a revision's state can change, in the future of what it shows now.
func (c *Cluster) events(rev *servingv1.Revision) []time.Time {
	b, created := behaviourOf(rev), rev.CreationTimestamp.Time
	ready := rev.Status.GetCondition(servingv1.RevisionConditionReady)
	switch {
	case b.broken && ready.IsUnknown():
		return []time.Time{created.Add(c.config.PullBackOff)}
	case b.broken && ready.GetReason() != servingv1.ReasonProgressDeadlineExceeded:
		return []time.Time{created.Add(c.config.ProgressDeadline)}
	case ready.IsUnknown() && b.slow > 0:
		return []time.Time{created.Add(b.slow)}
	case ready.IsTrue() && b.crash > 0:
		return []time.Time{ready.LastTransitionTime.Inner.Add(b.crash)}
	}
	return nil
}
