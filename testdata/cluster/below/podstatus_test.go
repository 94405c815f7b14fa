package main

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// knativePod is a pod as Knative makes them: the first image is that of the container that takes requests.
func knativePod(images ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "production", Name: "shop-1", UID: "7", CreationTimestamp: metav1.Unix(1000, 0)}}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: string(rune('a' + i)), Image: image})
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: queueProxy, Image: "ko.local/queue:1"})
	return pod
}

// brief tells of a status what Knative, Argo CD and people look at.
func brief(s corev1.PodStatus) string {
	words := []string{string(s.Phase)}
	for _, c := range s.Conditions {
		if c.Type == corev1.PodReady || c.Status == corev1.ConditionFalse {
			words = append(words, string(c.Type)+"="+string(c.Status))
		}
	}
	for _, c := range s.ContainerStatuses {
		word := c.Name + ":running"
		if c.State.Waiting != nil {
			word = c.Name + ":" + c.State.Waiting.Reason
		}
		if t := c.LastTerminationState.Terminated; t != nil {
			word += "/exited"
		}
		if c.Ready {
			word += "/ready"
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func TestPodStatus(t *testing.T) {
	t.Parallel()
	const (
		allReady = "Running Ready=True a:running/ready queue-proxy:running/ready"
		notYet   = "Running ContainersReady=False Ready=False a:running/ready queue-proxy:running"
		exited   = "Running ContainersReady=False Ready=False a:CrashLoopBackOff/exited queue-proxy:running"
	)
	for _, c := range []struct {
		images string // separated by spaces
		age    time.Duration
		want   string
		next   time.Duration
	}{
		{"shop:v1", 0, allReady, forever},
		{"shop:v1-broken", 0, "Pending ContainersReady=False Ready=False a:ImagePullBackOff queue-proxy:running", forever},
		{"shop:v1-unschedulable", 0, "Pending PodScheduled=False", forever},
		{"shop:v1-exit2", 0, exited, forever},
		{"shop:v1-unready", time.Hour, notYet, forever},
		{"shop:v1-slow5", 4 * time.Second, notYet, 5 * time.Second},
		{"shop:v1-slow5", 5 * time.Second, allReady, forever},
		{"shop:v1-gone1001", 0, allReady, forever},
		{"shop:v1-gone1000", 0, "Pending ContainersReady=False Ready=False a:ImagePullBackOff queue-proxy:running", forever},
		{"shop:v1-crash5", 4 * time.Second, allReady, 5 * time.Second},
		{"shop:v1-crash5", 5 * time.Second, exited, forever},
		{"shop:v1-flap5", 6 * time.Second, notYet, 10 * time.Second},
		{"shop:v1-flap5", 10 * time.Second, allReady, forever},
		{"shop:v1 side:v1-broken", 0, "Pending ContainersReady=False Ready=False a:running/ready b:ImagePullBackOff queue-proxy:running", forever},
		{"shop:v1-slow9 side:v1-crash5", 0, "Running ContainersReady=False Ready=False a:running/ready b:running/ready queue-proxy:running", 5 * time.Second},
		{"shop:v1-http500", 0, allReady, forever},
	} {
		status, next := podStatus(knativePod(strings.Fields(c.images)...), rules(), c.age)
		if got := brief(status); got != c.want || next != c.next {
			t.Errorf("%s at %s:\n got %s, next at %s\nwant %s, next at %s", c.images, c.age, got, next, c.want, c.next)
		}
	}
}

// TestPodStatusWithoutQueueProxy shows that a container that runs its own probe is unready itself.
func TestPodStatusWithoutQueueProxy(t *testing.T) {
	t.Parallel()
	pod := knativePod("job:v1-slow5")
	pod.Spec.Containers = pod.Spec.Containers[:1]
	status, _ := podStatus(pod, rules(), 0)
	if got, want := brief(status), "Running ContainersReady=False Ready=False a:running"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestPodStatusByConfiguration has the same image with a variable that keeps it from starting.
func TestPodStatusByConfiguration(t *testing.T) {
	t.Parallel()
	pod := knativePod("shop:v1")
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "K_REVISION", Value: "unready-1"}, {Name: "RULES", Value: "exit1"}}
	status, _ := podStatus(pod, rules(), 0)
	if got, want := brief(status), "a:CrashLoopBackOff"; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s in it", got, want)
	}
}

// TestPodStatusOnDemand has a pod that runs, and ends when its annotation says so.
func TestPodStatusOnDemand(t *testing.T) {
	t.Parallel()
	pod := knativePod("shop:v1")
	for rule, want := range map[string]string{"": "a:running/ready", "exit1": "a:CrashLoopBackOff"} {
		pod.Annotations = map[string]string{"rules": rule}
		if status, _ := podStatus(pod, rules(), time.Minute); !strings.Contains(brief(status), want) {
			t.Errorf("with %q got %s, want %s in it", rule, brief(status), want)
		}
	}
}

// TestPodStatusIsStable shows that nothing is written while nothing changes, and what the API server filled in stays.
func TestPodStatusIsStable(t *testing.T) {
	t.Parallel()
	pod := knativePod("shop:v1-slow5-crash20")
	pod.Status.QOSClass = corev1.PodQOSBurstable
	first, next := podStatus(pod, rules(), 5*time.Second)
	pod.Status = first
	if again, _ := podStatus(pod, rules(), next-1); !equality.Semantic.DeepEqual(first, again) {
		t.Errorf("the status changed within a phase:\n%+v\n%+v", first, again)
	}
	last, _ := podStatus(pod, rules(), next)
	if equality.Semantic.DeepEqual(first, last) {
		t.Error("the status is the same after the phase")
	}
	if last.QOSClass != corev1.PodQOSBurstable {
		t.Errorf("qosClass became %q", last.QOSClass)
	}
}

// TestTermination has what Knative takes its reason and message from.
func TestTermination(t *testing.T) {
	t.Parallel()
	status, _ := podStatus(knativePod("shop:v1-slow5-crash20"), rules(), time.Minute)
	got := status.ContainerStatuses[0].LastTerminationState.Terminated
	if got == nil || got.ExitCode != 1 || got.Message == "" || got.FinishedAt.Unix() != 1000+1+25 {
		t.Errorf("got %+v, want exit code 1 with a message, 25 s after the pod was made", got)
	}
	if restarts := status.ContainerStatuses[0].RestartCount; restarts != 1 {
		t.Errorf("got %d restarts, want 1", restarts)
	}
}
