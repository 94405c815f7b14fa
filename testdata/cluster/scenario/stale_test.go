//go:build cluster

package scenario

import "testing"

// TestRollbackPastStaleManifests has an Application whose paths leave the overlay out while a bad
// image bakes: Argo CD calls the restore's commit Synced with what it had rendered before, until it
// is asked to render anew. So does a rollback later.
func TestRollbackPastStaleManifests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.live().Status.LatestReadyRevisionName
	s.promote("v2.0.0", "steps=100").exits(0)
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=50@10m,100")
	r.until("baking 50 %")
	s.patchApplication(`[{"op": "add", "path": "/metadata/annotations", "value": {"argocd.argoproj.io/manifest-generate-paths": "/apps/other"}}]`)
	s.crash(s.live().Status.LatestReadyRevisionName)
	r.wait().exits(8)
	s.settled("v2.0.0")
	s.begin("rollback", "to="+first).wait().exits(0)
	s.settled("v1.0.0")
}
