//go:build cluster

package scenario

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRollbackToNoImage rolls users back to a revision whose pods were evicted, which is Ready, and
// whose image is in no registry any more: that is no rollback that has worked, and the command that is
// printed leads to what was good before.
func TestRollbackToNoImage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, gone := s.live().Status.LatestReadyRevisionName, time.Now().Add(2*time.Minute)
	s.promote(fmt.Sprintf("v2.0.0-gone%d", gone.Unix()), "steps=100").exits(0)
	old := s.live().Status.LatestReadyRevisionName
	s.promote("v3.0.0", "steps=100").exits(0)
	s.eventually("the image of the revision before is gone", func() bool { return time.Now().After(gone) })
	s.evict(old)
	users := s.listen(s.host(), 200*time.Millisecond)
	defer users.stop() // the ones that wait for a pod are not awaited
	s.begin("rollback", "wait-timeout=40s").wait().exits(10).says(
		"users wait for a pod of revision "+old,
		"no pod of revision "+old+", which had none, has become ready in ",
		"Git and Knative give all users to "+old,
		"--to "+first,
	)
	s.begin("rollback", "to="+first).wait().exits(0)
	s.settled("v1.0.0")
}

// evict takes a revision's pods, as a node does that is drained, and waits until others are not ready.
func (s *site) evict(revision string) {
	s.Helper()
	s.must(s.pods().DeleteCollection(s.Context(), metav1.DeleteOptions{}, podsOf(revision)))
	s.eventually("no pod of "+revision+" is ready", func() bool { return s.replicas(revision) == 0 })
}

// TestBakeWithoutAPod takes the only pod of a candidate while it bakes, and its image is in no registry any more: Knative calls the
// revision Ready all the time, and its users wait.
func TestBakeWithoutAPod(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good, gone := s.git("rev-parse", "main"), time.Now().Add(40*time.Second)
	r := s.begin("promote", fmt.Sprintf("image=%s:v3.0.0-gone%d", s.Image, gone.Unix()), "steps=50@90s,100", "wait-timeout=40s", "probe=", "probe-connect=")
	r.until("baking 50 %")
	candidate := s.live().Status.LatestReadyRevisionName
	s.eventually("the image of the candidate is gone", func() bool { return time.Now().After(gone) })
	s.evict(candidate)
	users := s.listen(s.host(), 200*time.Millisecond)
	defer users.stop() // the ones that wait for a pod are not awaited
	r.wait().exits(8).says("bake: failed: no pod of revision " + candidate + ", which had none, has become ready yet, although it is asked for")
	s.restored(good, "v2.0.0")
}
