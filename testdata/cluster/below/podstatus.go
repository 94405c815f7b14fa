package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// queueProxy is the container that Knative adds to every pod. It runs the readiness probe of the container that takes
// requests, so it is the one that is unready when that probe fails.
// https://github.com/knative/serving/blob/knative-v1.15.2/pkg/reconciler/revision/resources/deploy.go (makeContainer)
const queueProxy = "queue-proxy"

// nodeAddress is where the node would be, in the range for documentation (RFC 5737).
const nodeAddress = "203.0.113.1"

// life is a container of a pod at a moment.
type life struct {
	container corev1.Container
	behaviour behaviour
	moment    moment
}

// made is when a pod was made. Its timestamp has only seconds; taking the end of that second keeps rules from coming
// true too early.
func made(pod *corev1.Pod) time.Time { return pod.CreationTimestamp.Add(time.Second) }

// podStatus is the status that a kubelet gives a pod at an age, and the age at which that changes. It is a function of
// the pod and its phase alone, so the same phase gives the same status.
func podStatus(pod *corev1.Pod, rules book, age time.Duration) (corev1.PodStatus, time.Duration) {
	lives, next := livesAt(pod, rules, age)
	status := *pod.Status.DeepCopy() // The API server's own fields, such as qosClass, stay.
	status.Phase = podPhase(lives)
	status.Conditions = conditions(pod, lives)
	status.ContainerStatuses = nil
	if in(lives, unscheduled) {
		return status, next
	}
	ip := address(pod)
	status.HostIP, status.PodIP, status.PodIPs = nodeAddress, ip, []corev1.PodIP{{IP: ip}}
	status.HostIPs = []corev1.HostIP{{IP: status.HostIP}}
	status.StartTime = &pod.CreationTimestamp
	for _, l := range lives {
		status.ContainerStatuses = append(status.ContainerStatuses, containerStatus(pod, l, lives))
	}
	return status, next
}

func livesAt(pod *corev1.Pod, rules book, age time.Duration) ([]life, time.Duration) {
	var lives []life
	next := forever
	for _, c := range pod.Spec.Containers {
		b := rules.behaviourOf(saidOf(pod, c)).madeAt(pod.CreationTimestamp.Time)
		m := b.at(age)
		next = min(next, m.until)
		lives = append(lives, life{c, b, m})
	}
	return lives, next
}

// saidOf is what says how a container of a pod behaves.
func saidOf(pod *corev1.Pod, c corev1.Container) string {
	said := c.Image + " " + pod.Annotations["rules"]
	for _, e := range c.Env {
		if e.Name == "RULES" {
			said += " " + e.Value
		}
	}
	return said
}

func in(lives []life, s state) bool {
	return slices.ContainsFunc(lives, func(l life) bool { return l.moment.state == s })
}

// podPhase is Pending while a container was never started, as in the kubelet's getPhase.
func podPhase(lives []life) corev1.PodPhase {
	if in(lives, unpullable) || in(lives, unscheduled) {
		return corev1.PodPending
	}
	return corev1.PodRunning
}

// conditions are a pod's, with the messages that a scheduler and a kubelet write.
func conditions(pod *corev1.Pod, lives []life) []corev1.PodCondition {
	since := metav1.NewTime(pod.CreationTimestamp.Time)
	if in(lives, unscheduled) {
		return []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, LastTransitionTime: since, Reason: corev1.PodReasonUnschedulable,
			Message: "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.",
		}}
	}
	var all []corev1.PodCondition
	for _, t := range []corev1.PodConditionType{corev1.PodReadyToStartContainers, corev1.PodScheduled, corev1.PodInitialized} {
		all = append(all, corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: since})
	}
	status, reason, message := readiness(lives)
	changed := since
	for _, l := range lives {
		if t := when(pod, l.moment.since); changed.Before(&t) {
			changed = t
		}
	}
	for _, t := range []corev1.PodConditionType{corev1.ContainersReady, corev1.PodReady} {
		all = append(all, corev1.PodCondition{Type: t, Status: status, LastTransitionTime: changed, Reason: reason, Message: message})
	}
	return all
}

func readiness(lives []life) (corev1.ConditionStatus, string, string) {
	var names []string
	for _, l := range lives {
		if !containerReady(l, lives) {
			names = append(names, l.container.Name)
		}
	}
	if len(names) == 0 {
		return corev1.ConditionTrue, "", ""
	}
	return corev1.ConditionFalse, "ContainersNotReady", fmt.Sprintf("containers with unready status: [%s]", strings.Join(names, " "))
}

// containerReady knows that queue-proxy runs the probes of its pod: it is ready when everything is, and a running
// container beside it counts as ready.
func containerReady(l life, lives []life) bool {
	if l.container.Name == queueProxy {
		return !slices.ContainsFunc(lives, func(other life) bool { return other.moment.state != ready })
	}
	probedElsewhere := slices.ContainsFunc(lives, func(other life) bool { return other.container.Name == queueProxy })
	return l.moment.state == ready || l.moment.state == unready && probedElsewhere
}

func containerStatus(pod *corev1.Pod, l life, lives []life) corev1.ContainerStatus {
	s := corev1.ContainerStatus{Name: l.container.Name, Image: l.container.Image, Ready: containerReady(l, lives)}
	started := l.moment.state == ready || l.moment.state == unready
	s.Started = &started
	switch l.moment.state {
	case unpullable:
		s.State.Waiting = &corev1.ContainerStateWaiting{
			Reason:  "ImagePullBackOff",
			Message: fmt.Sprintf("Back-off pulling image %q: ErrImagePull: rpc error: code = NotFound desc = %s: not found", l.container.Image, l.container.Image),
		}
		return s
	case crashed:
		s.RestartCount = 1
		s.LastTerminationState.Terminated = termination(pod, l)
		s.State.Waiting = &corev1.ContainerStateWaiting{
			Reason:  "CrashLoopBackOff",
			Message: fmt.Sprintf("back-off 10s restarting failed container=%s pod=%s_%s(%s)", l.container.Name, pod.Name, pod.Namespace, pod.UID),
		}
	default:
		s.State.Running = &corev1.ContainerStateRunning{StartedAt: pod.CreationTimestamp}
	}
	s.ImageID = l.container.Image
	s.ContainerID = fmt.Sprintf("containerd://%s-%s", pod.UID, l.container.Name)
	return s
}

// termination carries the container's last words, as Knative sets terminationMessagePolicy: FallbackToLogsOnError.
func termination(pod *corev1.Pod, l life) *corev1.ContainerStateTerminated {
	return &corev1.ContainerStateTerminated{
		ExitCode: l.behaviour.exitCode, Reason: "Error", StartedAt: pod.CreationTimestamp, FinishedAt: when(pod, l.moment.since),
		Message:     fmt.Sprintf("fatal: exit %d, as the image's reference says", l.behaviour.exitCode),
		ContainerID: fmt.Sprintf("containerd://%s-%s", pod.UID, l.container.Name),
	}
}

// when is the time of an age.
func when(pod *corev1.Pod, age time.Duration) metav1.Time {
	if age == 0 {
		return pod.CreationTimestamp
	}
	return metav1.NewTime(made(pod).Add(age))
}

// address is a pod's own, of the range for benchmarks (RFC 2544), where no machine is: Knative's autoscaler asks pods for
// metrics. The API server refuses loopback addresses in Endpoints.
func address(pod *corev1.Pod) string {
	hash := fnv.New32a()
	fmt.Fprint(hash, cmp.Or(string(pod.UID), pod.Name))
	n := hash.Sum32()
	return fmt.Sprintf("198.%d.%d.%d", 18+n>>16&1, byte(n>>8), byte(n))
}
