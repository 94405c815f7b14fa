//go:build cluster

package scenario

import (
	"testing"
	"time"
)

// sleepy has revisions that begin without a pod, so that the first request to
// one waits until a pod has started.
func sleepy(l *layout) {
	annotated("autoscaling.knative.dev/initial-scale", "0")(l)
}

// TestWarmUp: with warm-up the candidate has a pod before its first share of the
// traffic, however long that takes to start, and no user waits for one. Without
// it the first user does: so the scenario can tell.
func TestWarmUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, sleepy)
	s.ask(s.host()) // what is live before is awake
	for _, c := range []struct {
		tag    string
		warmUp []string
		waits  bool
	}{
		{"v2.0.0-slow5", []string{"warm-up=/healthz"}, false},
		{"v3.0.0-slow5", []string{"probe-connect="}, true},
	} {
		users := s.listen(s.host(), 20*time.Millisecond)
		r := s.promote(c.tag, append(c.warmUp, "steps=50@5s,100", "probe=")...).exits(0)
		if !c.waits {
			r.says("warm-up: passed: the candidate answers, with 1 pod")
		}
		s.settled(c.tag)
		waited := 0
		for _, a := range users.end() {
			if a.Status != 200 {
				t.Errorf("%s: a request of %s was answered %d", c.tag, a.began, a.Status)
			}
			if a.Waited {
				waited++
			}
		}
		if c.waits != (waited > 0) {
			t.Errorf("%s: %d users waited for a pod", c.tag, waited)
		}
	}
}
