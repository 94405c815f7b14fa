package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"knative.dev/pkg/controller"
)

// nodeName is the cluster's one node. Pods have to be bound to a node that exists, or Kubernetes leaves them out of the
// Endpoints and EndpointSlices that Knative looks at.
const nodeName = "below"

// kubelet binds every pod and gives it the status that its images' rules say. It needs nothing but the pod and the
// clock for that, so it goes on where it was when it is started again.
type kubelet struct {
	cluster *cluster
	now     func() time.Time
}

func newKubelet(ctx context.Context, c *cluster) (*controller.Impl, error) {
	return follow(ctx, "kubelet", &kubelet{cluster: c, now: time.Now}, c.pods)
}

// register makes the node, as a kubelet does when it starts.
func register(ctx context.Context, c *cluster) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName, Labels: map[string]string{corev1.LabelHostname: nodeName}}}
	_, err := c.kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("registering node %s: %w", nodeName, err)
	}
	return nil
}

// Reconcile writes a pod's status if it is not what it should be by now, and comes back when it should change next.
func (k *kubelet) Reconcile(ctx context.Context, key string) error {
	pod := k.cluster.pod(key)
	if pod == nil {
		return nil
	}
	if pod.DeletionTimestamp != nil {
		return k.remove(ctx, pod)
	}
	age := k.now().Sub(made(pod))
	status, next := podStatus(pod, k.cluster.rules, age)
	if err := k.bind(ctx, pod, status); err != nil {
		return err
	}
	if err := k.write(ctx, pod, status); err != nil {
		return err
	}
	if next < forever {
		return controller.NewRequeueAfter(next - age)
	}
	return nil
}

// bind does the scheduler's work.
func (k *kubelet) bind(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	if pod.Spec.NodeName != "" || len(status.ContainerStatuses) == 0 {
		return nil
	}
	binding := &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: nodeName},
	}
	err := k.cluster.kube.CoreV1().Pods(pod.Namespace).Bind(ctx, binding, metav1.CreateOptions{})
	// A conflict means that it is bound, and the event of that is on its way.
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("binding pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// write patches, so that it never conflicts with what others change in the pod; the UID keeps it from a namesake.
func (k *kubelet) write(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	if equality.Semantic.DeepEqual(status, pod.Status) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID}, "status": status})
	if err != nil {
		return fmt.Errorf("writing the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	_, err = k.cluster.kube.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("writing the status of pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}

// remove ends a deleted pod at once, whatever its grace period: no process has to stop.
func (k *kubelet) remove(ctx context.Context, pod *corev1.Pod) error {
	now := metav1.DeleteOptions{GracePeriodSeconds: new(int64), Preconditions: &metav1.Preconditions{UID: &pod.UID}}
	err := k.cluster.kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, now)
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("removing pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return nil
}
