//go:build cluster

package scenario

import "testing"

func TestPromoteInSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.answersOnly("v1.0.0")
	s.promote("v2.0.0").exits(0)
	s.settled("v2.0.0")
	if n := len(s.commits()); n != 4 {
		t.Errorf("%d commits, want candidate, 10 %%, 50 %% and 100 %%: %q", n, s.commits())
	}
}

func TestBrokenImage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0").exits(0)
	good := s.git("rev-parse", "main")
	s.promote("v3.0.0-broken").exits(8)
	s.restored(good, "v2.0.0")
}
