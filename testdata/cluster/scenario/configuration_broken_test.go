//go:build cluster

package scenario

import "testing"

// A configuration that does not start stays in the overlay when its promotion has failed, so the
// Service is not Ready: that keeps no user from the old revision, and no rollback from being seen.
func TestConfigurationThatDoesNotStart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.live().Status.LatestReadyRevisionName
	s.promote("v2.0.0", "steps=100").exits(0)
	old := s.live().Spec.Template.Name
	s.base("        env: [{name: RULES, value: exit1}]\n")
	s.refused("without a name change")
	s.begin("promote", "image=unchanged", "steps=50,100").wait().exits(8).says("the overlay still has another template")
	s.answersOnly("v2.0.0")
	if live := s.live(); live.IsReady() || live.Spec.Template.Name == old {
		t.Errorf("the template %s is ready: %v; it must be the one that does not start", live.Spec.Template.Name, live.IsReady())
	}
	s.begin("rollback", "to="+first).wait().exits(0)
	s.answersOnly("v1.0.0")
	s.begin("check").wait().says("template-not-ready")
}
