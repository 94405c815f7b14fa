//go:build cluster

package scenario

import (
	"fmt"
	"syscall"
	"testing"
)

// The run is killed after each of its commits and started again: it ends as
// one that was never killed does, and commits nothing twice.
func TestKilledAfterEveryCommit(t *testing.T) {
	t.Parallel()
	for _, moment := range []string{"at the commit", "in the gates"} {
		t.Run(moment, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.promote("v2.0.0", "steps=10,50,100").exits(0)
			straight := s.commits()
			for n := range straight {
				r := s.begin("promote", "image="+s.Image+":v3.0.0")
				s.eventually(fmt.Sprintf("commit %d is made", n+1), func() bool { return len(s.commits()) > len(straight)+n || r.ended() })
				if moment == "in the gates" {
					r.until("commit " + s.git("rev-parse", "--short=10", "main"))
				}
				r.signal(syscall.SIGKILL)
				r.wait()
			}
			s.promote("v3.0.0").exits(0)
			s.settled("v3.0.0")
			if again := s.commits()[len(straight):]; len(again) != len(straight) {
				t.Errorf("%d commits, want %d as without being killed: %q", len(again), len(straight), again)
			}
		})
	}
}

// A killed run of a broken image is rolled back by the one that follows.
func TestKilledBeforeRollback(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	r := s.begin("promote", "image="+s.Image+":v3.0.0-broken")
	s.eventually("the candidate is committed", func() bool { return s.git("rev-parse", "main") != good })
	r.signal(syscall.SIGKILL)
	r.wait()
	s.promote("v3.0.0-broken").exits(8)
	s.restored(good, "v2.0.0")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"hold", "rollback"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.promote("v2.0.0", "steps=100").exits(0)
			good := s.git("rev-parse", "main")
			r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=20@60s,100", "on-cancel="+policy)
			s.eventually("the candidate has traffic", func() bool {
				return s.liveAt(20) && s.live().IsReady()
			})
			r.signal(syscall.SIGINT)
			r.wait().exits(11)
			if policy == "rollback" {
				s.eventually("the overlay is what it was", func() bool { return s.tree("main") == s.tree(good) })
				s.eventually("the old traffic is live", func() bool {
					now := s.live()
					return len(now.Status.Traffic) == len(s.atTraffic(good)) && now.IsReady() && now.Status.ObservedGeneration == now.Generation
				})
				s.restored(good, "v2.0.0")
				return
			}
			if !s.liveAt(20) {
				t.Errorf("the traffic did not stay: %+v", s.live().Status.Traffic)
			}
			s.promote("v3.0.0", "steps=20,100").exits(0)
			s.settled("v3.0.0")
		})
	}
}
