package argo

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestWaitsForPods has Knative's own code say of a revision what its Deployment says.
func TestWaitsForPods(t *testing.T) {
	t.Parallel()
	deployment := func(available int32, kind appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) func(*servingv1.RevisionStatus) {
		return func(s *servingv1.RevisionStatus) {
			s.MarkContainerHealthyTrue()
			s.ActualReplicas = &available
			s.PropagateDeploymentStatus(&appsv1.DeploymentStatus{AvailableReplicas: available, Conditions: []appsv1.DeploymentCondition{{Type: kind, Status: status, Reason: reason}}})
		}
	}
	for name, test := range map[string]struct {
		set          func(*servingv1.RevisionStatus)
		ready, waits bool
	}{
		"serves": {func(s *servingv1.RevisionStatus) {
			deployment(1, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable")(s)
		}, true, false},
		"serves, one more is refused":  {deployment(1, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate"), false, true},
		"has none, one is refused":     {deployment(0, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate"), false, true},
		"serves, one more is late":     {deployment(1, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"), false, true},
		"has none, the first was late": {deployment(0, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded"), false, false},
		"waits for a node":             {func(s *servingv1.RevisionStatus) { s.MarkResourcesAvailableFalse("Unschedulable", "no node") }, false, true},
		"has no image":                 {func(s *servingv1.RevisionStatus) { s.MarkResourcesAvailableFalse("ImagePullBackOff", "not found") }, false, false},
		"crashes, one more is refused": {func(s *servingv1.RevisionStatus) {
			s.MarkResourcesAvailableFalse("FailedCreate", "quota")
			s.MarkContainerHealthyFalse("ExitCode1", "exit status 1")
		}, false, false},
	} {
		var r servingv1.Revision
		r.Status.InitializeConditions()
		r.Status.MarkActiveTrue()
		test.set(&r.Status)
		if ready := r.Status.GetCondition(servingv1.RevisionConditionReady).IsTrue(); ready != test.ready || WaitsForPods(&r) != test.waits {
			t.Errorf("%s: ready %t, waits %t; want %t, %t: %+v", name, ready, WaitsForPods(&r), test.ready, test.waits, r.Status.Conditions)
		}
	}
}
