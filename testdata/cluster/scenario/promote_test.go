//go:build cluster

package scenario

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestPromoteInSteps looks at every answer of the Service's public host and of
// the candidate's own while a promotion goes on, and compares them with what
// the commits say and when.
func TestPromoteInSteps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	sights := s.watch()
	public, candidate := s.listen(s.host(), 4*time.Millisecond), s.listen(s.candidateHost(), 20*time.Millisecond)
	s.promote("v2.0.0", "steps=10@8s,50@8s,100", "keep-previous=true").exits(0)
	s.settled("v2.0.0")
	steps := s.steps(sights)
	answers := public.end()
	if len(steps) != 4 {
		t.Fatalf("commits %q, want candidate, 10 %%, 50 %% and 100 %%", s.commits())
	}
	for _, a := range answers {
		if a.Status != 200 {
			t.Errorf("a request of %s was answered %d", a.began, a.Status)
		}
		if a.tag() == "v2.0.0" && a.ended.Before(steps[1].committed) {
			t.Errorf("the candidate answered a request of %s, before its first step", a.began)
		}
	}
	for i, step := range steps {
		s.splits(answers, step, steps[i:])
	}
	s.onlyCandidate(candidate.end())
	if hits := s.hits("previous-"+s.host(), 10); hits["v1.0.0"] != 10 {
		t.Errorf("the host of the revision before is answered by %v", hits)
	}
}

// A step is one commit of a promotion: its share, when it was committed at the
// earliest, and when Kubernetes had it live.
type step struct {
	name      string
	percent   int64
	committed time.Time
	live      time.Time
}

// steps are the commits of the only promotion so far.
func (s *site) steps(sights *watcher) []step {
	s.Helper()
	revision := s.live().Spec.Template.Name
	var steps []step
	for line := range strings.Lines(s.log("--reverse", "--format=%ct %(trailers:key=Promotion-Step,valueonly,separator=)")) {
		stamp, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseInt(stamp, 10, 64)
		s.must(err)
		one := step{name: name, committed: time.Unix(seconds, 0)}
		if name != "candidate" {
			one.percent, err = strconv.ParseInt(name, 10, 64)
			s.must(err)
		}
		var seen bool
		one.live, seen = sights.first(func(live *servingv1.Service) bool { return routes(live, revision, one.percent) })
		if !seen {
			s.Errorf("step %s never was live", name)
		}
		steps = append(steps, one)
	}
	return steps
}

// splits holds the answers from when a step was live until the next commit
// against the step's share, within what chance allows.
func (s *site) splits(answers []heard, now step, rest []step) {
	s.Helper()
	var n, hits int
	for _, a := range answers {
		if a.began.After(now.live) && (len(rest) == 1 || a.ended.Before(rest[1].committed)) {
			n++
			if a.tag() == "v2.0.0" {
				hits++
			}
		}
	}
	low, high := within(n, float64(now.percent)/100, 2e-7)
	s.Logf("step %s: %d of %d answers by the candidate, %d to %d allowed", now.name, hits, n, low, high)
	if now.percent%100 != 0 && n < 100 {
		s.Errorf("step %s: only %d answers", now.name, n)
	}
	if hits < low || hits > high {
		s.Errorf("step %s: %d of %d answers came from the candidate, want %d to %d", now.name, hits, n, low, high)
	}
}

// onlyCandidate: the candidate's own host is nobody's but for the time in which
// a revision has the tag, and then only that revision's.
func (s *site) onlyCandidate(answers []heard) {
	s.Helper()
	count := map[string]int{}
	for _, a := range answers {
		count[a.tag()]++
	}
	if count["v2.0.0"] == 0 || count["v2.0.0"]+count["Not Found"] != len(answers) {
		s.Errorf("the candidate's host was answered by %v", count)
	}
	if last := answers[len(answers)-1]; last.Status != 404 {
		s.Errorf("the candidate's host is still answered by %s", last.tag())
	}
}

// within are the least and the greatest number of hits in n tries, each with
// the chance p, that are not so rare that all rarer ones together have less
// than the chance alarm: half of that on either side.
func within(n int, p, alarm float64) (low, high int) {
	if p == 0 || p == 1 {
		return int(p) * n, int(p) * n
	}
	chance := func(k int) float64 {
		logarithm := func(n int) float64 { v, _ := math.Lgamma(float64(n + 1)); return v }
		return math.Exp(logarithm(n) - logarithm(k) - logarithm(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
	}
	for sum := chance(low); sum < alarm/2; sum += chance(low) {
		low++
	}
	high = n
	for sum := chance(high); sum < alarm/2; sum += chance(high) {
		high--
	}
	return low, high
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		n         int
		p         float64
		low, high int
	}{{10, 0, 0, 0}, {10, 1, 10, 10}, {1, 0.5, 0, 1}, {10, 0.5, 0, 10}, {1000, 0.5, 418, 582}, {1000, 0.1, 54, 153}, {100, 0.1, 0, 28}} {
		if low, high := within(c.n, c.p, 2e-7); low != c.low || high != c.high {
			t.Errorf("%d tries with the chance %g: %d to %d, want %d to %d", c.n, c.p, low, high, c.low, c.high)
		}
	}
}
