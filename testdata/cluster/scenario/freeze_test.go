//go:build cluster

package scenario

import "testing"

const (
	windowsFile = ".promote/windows.yaml"
	unfrozen    = "# Nothing is frozen.\n"
	audit       = "exclude:\n- {from: 2000-01-01T00:00, until: 2999-01-04T00:00, description: audit, override: true}\n"
	stopped     = "stop: {reason: incident 4711, by: alice}\n"
)

// TestFreeze: in a freeze no promotion begins, one that a person stops is held
// at its present step with its traffic, a rollback goes all the way, and what
// overrides a freeze says so in its commits.
func TestFreeze(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(l *layout) { l.set(windowsFile, audit) })
	good := s.git("rev-parse", "main")
	s.promote("v2.0.0").exits(15).says("frozen by .promote/windows.yaml: excluded: audit (line 2), until 2999-01-04 00:00 UTC")
	if now := s.git("rev-parse", "main"); now != good {
		t.Fatalf("%s was pushed in a freeze", now)
	}
	s.answersOnly("v1.0.0")

	s.promote("v2.0.0", "steps=50,100", "override=freeze", "reason=corrects the checkout errors").exits(0)
	s.settled("v2.0.0")
	if trailers, want := s.log("--reverse", "--format=%(trailers:key=Promotion-Override,valueonly,separator=)/%(trailers:key=Promotion-Reason,valueonly,separator=)"), 3; trailers != overridden(want) {
		t.Errorf("the commits have the trailers\n%s\nwant in each\n%s", trailers, overridden(1))
	}

	s.push("End the audit", map[string]string{windowsFile: unfrozen})
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=20@5s,60,100")
	s.eventually("20 % are live", func() bool { return s.liveAt(20) || r.ended() })
	s.push("Stop the line", map[string]string{windowsFile: stopped})
	r.wait().exits(9).says("60 %: ", "frozen by .promote/windows.yaml: the line is stopped: incident 4711, by alice")
	s.stays("v3.0.0", 20)
	s.promote("v3.0.0", "steps=20@5s,60,100").exits(9).says("stayed good for 5s")
	s.stays("v3.0.0", 20)

	s.begin("rollback").wait().exits(0)
	s.settled("v2.0.0")
}

// TestGateFailsInAFreeze: what is bad is rolled back also while the line is
// stopped.
func TestGateFailsInAFreeze(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=20@10m,100", "probe=", "probe-connect=")
	r.until("baking")
	s.push("Stop the line", map[string]string{windowsFile: stopped})
	s.crash(s.live().Status.LatestReadyRevisionName)
	r.wait().exits(8)
	s.settled("v2.0.0")
	if now, before := s.tree("main"), s.tree(good); now != before {
		t.Errorf("the overlay is not what it was:\n%s", s.git("diff", good, "main", "--", s.Overlay))
	}
}

// overridden are the trailers of so many commits that override a freeze.
func overridden(commits int) string {
	text := "freeze/corrects the checkout errors"
	for range commits - 1 {
		text += "\nfreeze/corrects the checkout errors"
	}
	return text
}

// stays fails the scenario unless the candidate of that tag has that share of
// the traffic in Kubernetes, and answers at its own host.
func (s *site) stays(tag string, percent int64) {
	s.Helper()
	if !s.liveAt(percent) {
		s.Fatalf("the candidate has not %d %% of the traffic: %+v", percent, s.live().Status.Traffic)
	}
	if got := s.ask(s.candidateHost()).tag(); got != tag {
		s.Fatalf("the candidate's host is answered by %s, want %s", got, tag)
	}
}
