package cluster

import (
	"knative.dev/pkg/ptr"
	"knative.dev/serving/pkg/apis/autoscaling"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// NoPod is how a Revision does without pods.
type NoPod string

const (
	Sleeps  NoPod = "sleeps"   // a pod starts once it has a share of the traffic
	Unasked NoPod = "unasked"  // nobody asks, whatever it has
	NoImage NoPod = "no-image" // a pod is to start then, and its image is gone
)

// noPod marks a Revision that was scaled to zero.
const noPod = "argotest/no-pod"

// ScaleToZero takes the pods of a Revision, and reports whether it is there.
func (c *Cluster) ScaleToZero(namespace, name string, how NoPod) bool {
	return c.annotate(namespace, name, noPod, string(how))
}

// withoutPod writes what Knative's autoscaler says of a Revision that was scaled to zero: it stays
// Ready. It tells whether that is so still.
func (r *reconciler) withoutPod(rev *servingv1.Revision) bool {
	how := NoPod(rev.Annotations[noPod])
	if _, scale, _ := autoscaling.InitialScaleAnnotation.Get(rev.Annotations); how == "" && scale == "0" && rev.Status.ActualReplicas != nil && *rev.Status.ActualReplicas == 0 {
		how = Sleeps // from the beginning, and Ready with that
		rev.Status.MarkContainerHealthyTrue()
		rev.Status.MarkResourcesAvailableTrue()
	}
	switch {
	case how == "" || how == Sleeps && r.hasUsers(rev):
		return false
	case how == NoImage && r.hasUsers(rev):
		rev.Status.MarkActiveUnknown("Queued", "Requests to the target are being buffered as resources are provisioned.")
	default:
		rev.Status.MarkActiveFalse("NoTraffic", "The target is not receiving traffic.")
	}
	rev.Status.ActualReplicas = ptr.Int32(0)
	return true
}

// hasUsers tells whether a Route gives a Revision a share of its traffic.
func (r *reconciler) hasUsers(rev *servingv1.Revision) bool {
	for _, route := range r.seen.routes {
		for _, t := range route.Status.Traffic {
			if route.Namespace == rev.Namespace && t.RevisionName == rev.Name && t.Percent != nil && *t.Percent > 0 {
				return true
			}
		}
	}
	return false
}
