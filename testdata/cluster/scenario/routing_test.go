//go:build cluster

package scenario

import (
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestFixOfWhatCrashes: the revision with the traffic crashes after its promotion,
// and its pods are kept. Knative routes nothing beside it, so the corrected image
// gets all traffic in one step.
func TestFixOfWhatCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, annotated("autoscaling.knative.dev/min-scale", "1"))
	s.promote("v2.0.0", "steps=100").exits(0)
	s.crash(s.live().Status.LatestReadyRevisionName)
	s.crashes()
	s.promote("v2.0.1", "steps=10,100").exits(0).says("the new one gets all traffic in one step")
	s.settled("v2.0.1")
}

// TestRollbackPastWhatCrashes: a promotion is held, as what had the traffic before
// crashes by now. A rollback goes to what was good before that.
func TestRollbackPastWhatCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, annotated("autoscaling.knative.dev/min-scale", "1"))
	s.promote("v1.5.0", "steps=100").exits(0)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.crash(s.live().Status.LatestReadyRevisionName)
	s.crashes()
	s.promote("v2.0.1-broken", "steps=10,100").exits(9).says("not rolled back: revision ")
	s.begin("rollback").wait().exits(0)
	s.settled("v1.5.0")
}

// TestOldCrashesWhileBaking: the revision with half of the traffic crashes while the candidate, which is good, has the other
// half. The same run gives that all of it.
func TestOldCrashesWhileBaking(t *testing.T) {
	t.Parallel()
	s := newSite(t, annotated("autoscaling.knative.dev/min-scale", "1"))
	s.promote("v1.5.0", "steps=100").exits(0)
	old := s.live().Status.LatestReadyRevisionName
	r := s.begin("promote", "image="+s.Image+":v2.0.0", "steps=50@3m,100")
	r.until("baking 50 %")
	s.crash(old)
	r.wait().exits(0).says("is Ready, and what had the traffic before it is not: going on, to all of it")
	s.settled("v2.0.0")
}

// TestRollbackBesideWhatNeverWasReady: somebody's tag is on a revision that failed, and Knative routes nothing of a commit that names
// it. A rollback and a promotion leave it out.
func TestRollbackBesideWhatNeverWasReady(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v2.0.1-broken", "steps=10,100").exits(8)
	s.promote("v3.0.0", "steps=100").exits(0)
	own := "./knative-promote-" + s.Service + ".yaml"
	failed := regexp.MustCompile(s.Service + `-[0-9a-f]{8}\b.*v2\.0\.1-broken`).FindString(s.read(own))
	failed, _, _ = strings.Cut(failed, " ")
	s.push("Look at what failed", map[string]string{own: s.read(own) + "    - revisionName: " + failed + "\n      percent: 0\n      latestRevision: false\n      tag: look\n"})
	s.refresh()
	s.begin("rollback").wait().exits(0).says("somebody's tag look is left out")
	s.settled("v2.0.0")
	s.promote("v5.0.0", "steps=10,100").exits(0)
	s.settled("v5.0.0")
}

// pods are those of the site's namespace, and podsOf are a revision's.
func (s *site) pods() dynamic.ResourceInterface {
	return kube.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"}).Namespace(s.Namespace)
}

func podsOf(revision string) metav1.ListOptions {
	return metav1.ListOptions{LabelSelector: "serving.knative.dev/revision=" + revision}
}

// crash ends the containers of a revision's pods, of which there is one at least.
func (s *site) crash(revision string) {
	s.Helper()
	pods, err := s.pods().List(s.Context(), podsOf(revision))
	s.must(err)
	if len(pods.Items) == 0 {
		s.Fatalf("revision %s has no pod", revision)
	}
	for _, pod := range pods.Items {
		_, err := s.pods().Patch(s.Context(), pod.GetName(), types.MergePatchType, []byte(`{"metadata": {"annotations": {"rules": "exit1"}}}`), metav1.PatchOptions{})
		s.must(err)
	}
}

// crashes waits until the revision with the traffic is not Ready.
func (s *site) crashes() {
	s.Helper()
	s.eventually("the Service is not Ready", func() bool {
		ready := s.live().Status.GetCondition("Ready")
		return ready != nil && ready.IsFalse()
	})
}

// TestServiceMadeAnew: after a promotion the Service is deleted, and Argo CD makes
// it anew from Git, which names no revision that only the old one had.
func TestServiceMadeAnew(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=10,100").exits(0)
	s.must(kube.Resource(services).Namespace(s.Namespace).Delete(s.Context(), s.Service, metav1.DeleteOptions{}))
	s.eventually("the Service answers again", func() bool { return s.ask(s.host()).Image == s.Image+":v2.0.0" })
	s.promote("v3.0.0", "steps=10,100").exits(0)
	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
}

// TestRollbackBesideWhatCrashes: somebody's tag is on a revision that crashes after a
// rollback was committed which nobody has seen. Knative routes nothing of that; the
// rollback, started again, takes the tag out and gives users what they are to have.
func TestRollbackBesideWhatCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, annotated("autoscaling.knative.dev/min-scale", "1"))
	s.promote("v1.5.0", "steps=100").exits(0)
	tagged := s.live().Status.LatestReadyRevisionName
	s.promote("v2.0.0", "steps=100").exits(0)
	s.promote("v3.0.0", "steps=100").exits(0)
	own := "./knative-promote-" + s.Service + ".yaml"
	s.push("Look at it again", map[string]string{own: s.read(own) + "    - revisionName: " + tagged + "\n      percent: 0\n      latestRevision: false\n      tag: look\n"})
	s.refresh()
	s.crash(tagged)
	s.crashes()
	s.begin("rollback", "unseen=true").wait().exits(10)
	s.answersOnly("v3.0.0")
	s.begin("rollback").wait().exits(0).says("somebody's tag look is left out of the traffic")
	s.settled("v2.0.0")
}

// TestFurtherPodRefused: one of two pods is evicted, and the cluster refuses the one in its place. Knative calls the
// revision not Ready, though it serves everybody: it is neither given up nor passed over.
func TestFurtherPodRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t, annotated("autoscaling.knative.dev/min-scale", "2"))
	s.promote("v2.0.0", "steps=100").exits(0)
	old := s.live().Status.LatestReadyRevisionName
	s.refusePods()
	s.evictOne(old)
	s.promote("v3.0.0-http500", "steps=50,100").exits(13).says("revision-waits-for-pods")
	s.answersOnly("v2.0.0")
	s.takePods()
	s.eventually("the Service is Ready again", func() bool { return s.live().IsReady() })

	s.promote("v3.0.0", "steps=50").exits(0)
	s.refusePods()
	s.evictOne(old)
	r := s.begin("rollback")
	r.until("Knative routes the commit when the cluster takes the pod")
	s.takePods()
	r.wait().exits(0)
	s.settled("v2.0.0")
}

// refusePods has the cluster take no further pod of the site's namespace, until takePods.
func (s *site) refusePods() { s.podSecurity(`"restricted"`) }

func (s *site) takePods() { s.podSecurity("null") }

func (s *site) podSecurity(standard string) {
	s.Helper()
	patch := `{"metadata": {"labels": {"pod-security.kubernetes.io/enforce": ` + standard + `}}}`
	_, err := kube.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Patch(s.Context(), s.Namespace, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	s.must(err)
}

// evictOne takes one of a revision's pods, and waits until Knative calls it not Ready.
func (s *site) evictOne(revision string) {
	s.Helper()
	pods, err := s.pods().List(s.Context(), podsOf(revision))
	s.must(err)
	s.must(s.pods().Delete(s.Context(), pods.Items[0].GetName(), metav1.DeleteOptions{}))
	s.eventually(revision+" is not Ready", func() bool {
		r, err := liveOne[servingv1.Revision](s.T, revisions, s.Namespace, revision)
		s.must(err)
		return !r.IsReady()
	})
}
