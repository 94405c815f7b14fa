//go:build cluster

package scenario

import (
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/testdata/cluster/forge"
)

// TestForgeStatuses: each commit shows on the forge whether its gates have passed,
// and production takes from staging what has the statuses that it wants.
func TestForgeStatuses(t *testing.T) {
	t.Parallel()
	s := newForgeSite(t, withStaging)
	staging := *s
	staging.site = s.staging()
	name := "knative-promote/" + s.Service + "/staging"
	image := "image=" + s.Image + ":"

	staging.runs("promote", image+"v2.0.0", "statuses=true", "steps=50,100").exits(0)
	for range 2 {
		s.noWarnings(staging.runs("promote", image+"v2.0.0", "statuses=true").exits(0))
	}
	for _, commit := range strings.Fields(staging.log("--format=%H")) {
		s.shownOnce(commit, name, "success")
	}
	s.shownOnce(s.git("rev-parse", "main"), name, "success")

	s.runs("promote", "from="+staging.Overlay, "checks="+name+"\ne2e").exits(15).says("has no status e2e")
	last := staging.log("--format=%H", "-1")
	s.must(s.infra.Status(t.Context(), s.owner, last, "e2e", "failure"))
	s.runs("promote", "from="+staging.Overlay, "checks="+name+"\ne2e").exits(15).says("the status e2e of commit " + last[:10] + " is failure")
	s.must(s.infra.Status(t.Context(), s.owner, last, "e2e", "success"))
	s.runs("promote", "from="+staging.Overlay, "checks="+name+"\ne2e", "steps=100").exits(0)
	s.settled("v2.0.0")

	before := s.git("rev-parse", "main")
	staging.runs("promote", image+"v3.0.0-broken", "statuses=true", "wait-timeout=1m").exits(8)
	made := strings.Fields(s.git("log", "--reverse", "--invert-grep", "--grep=^Promotion-Passed: ", "--format=%H", before+"..main"))
	if len(made) != 2 {
		t.Fatalf("a promotion that fails made the commits %q, want two", made)
	}
	s.shownOnce(made[0], name, "failure")
	s.shownOnce(made[1], name, "success")
}

// noWarnings fails the scenario where a run has warned of something.
func (s *forgeSite) noWarnings(r *run) {
	s.Helper()
	if told := s.told(r, "warning"); len(told) > 0 {
		s.Errorf("it warned: %q", told)
	}
}

// shownOnce fails the scenario unless a commit has the status, which nobody has
// set twice.
func (s *forgeSite) shownOnce(commit, name, state string) {
	s.Helper()
	all, err := s.infra.Statuses(s.Context(), commit)
	s.must(err)
	all = slices.DeleteFunc(all, func(c forge.CommitStatus) bool { return c.Context != name || c.State == "pending" })
	if len(all) != 1 || all[0].State != state {
		s.Errorf("commit %.10s has the statuses %+v, want %s once", commit, all, state)
	}
}
