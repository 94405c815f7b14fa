//go:build cluster

package scenario

import (
	"testing"
	"time"
)

// patient gives a Service's revisions longer than the control plane's deadline.
func patient(l *layout) {
	l.set("./patches/scale.yaml", `apiVersion: serving.knative.dev/v1
kind: Service
metadata:
  name: `+l.Service+`
spec:
  template:
    metadata:
      annotations:
        serving.knative.dev/progress-deadline: 60s
`)
}

// TestSlowRevisions: a revision that takes its time is waited for, as long as
// Knative itself does.
func TestSlowRevisions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, tag string
		change    func(*layout)
	}{
		{"after-5s", "v2.0.0-slow5", func(*layout) {}},
		{"after-20s", "v2.0.0-slow20", patient},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, c.change)
			public := s.listen(s.host(), 20*time.Millisecond)
			s.promote(c.tag, "steps=100").exits(0)
			s.settled(c.tag)
			for _, a := range public.end() {
				if a.Status != 200 {
					t.Errorf("a request of %s was answered %d", a.began, a.Status)
				}
			}
		})
	}
}

// TestUnreadyDuringPromotion: what happens to the pods while a step is made or
// bakes decides, and nothing of a bad revision stays.
func TestUnreadyDuringPromotion(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, rule, steps string
		code              int
		says              string
		inputs            []string
	}{
		{"deadline", "slow120", "100", 8, "did not become ready in time: ProgressDeadlineExceeded", nil},
		{"crash-while-baking", "crash8", "50@15s,100", 8, "Gate failed, rolled back: ", nil},
		{"crash-at-100", "crash8", "100@15s", 8, "Gate failed, rolled back: ", nil},
		// A Service that is unready for a moment only passes, where nobody asks what users would see of it.
		{"flap-while-baking", "flap30", "50@40s,100", 0, "stayed good for 40s", []string{"probe=", "probe-connect="}},
		{"flap-while-probed", "flap30", "50@40s,100", 8, "requests failed (", []string{"wait-for-data=5s", "on-inconclusive=rollback"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.promote("v1.1.0", "steps=100").exits(0)
			good := s.git("rev-parse", "main")
			candidate := s.listen(s.candidateHost(), 20*time.Millisecond)
			tag := "v2.0.0-" + c.rule
			s.promote(tag, append(c.inputs, "steps="+c.steps)...).exits(c.code).says(c.says)
			if c.code != 0 {
				t.Logf("rolled back after the commits %q", s.commits())
				s.restored(good, "v1.1.0")
				return
			}
			s.settled(tag)
			s.wasDown(candidate.end())
		})
	}
}

// wasDown fails the scenario unless bad answers came after the first good one:
// else it has not seen what it is about.
func (s *site) wasDown(answers []heard) {
	s.Helper()
	up := false
	for _, a := range answers {
		up = up || a.Status == 200
		if up && a.Status == 503 {
			return
		}
	}
	s.Error("the candidate never was down")
}
