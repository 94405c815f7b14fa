//go:build cluster

package scenario

import (
	"fmt"
	"testing"
	"time"
)

// TestRollbackToNoImage rolls users back to a revision that was scaled to zero, is Ready, and whose
// image is in no registry any more: that is no rollback that has worked, and the command that is
// printed leads to what was good before.
func TestRollbackToNoImage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first, gone := s.live().Status.LatestReadyRevisionName, time.Now().Add(90*time.Second)
	s.promote(fmt.Sprintf("v2.0.0-gone%d", gone.Unix()), "steps=100").exits(0)
	old := s.live().Status.LatestReadyRevisionName
	s.promote("v3.0.0", "steps=100").exits(0)
	s.eventually("the revision before has no pod, and its image is gone", func() bool {
		return s.replicas(old) == 0 && time.Now().After(gone)
	})
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
