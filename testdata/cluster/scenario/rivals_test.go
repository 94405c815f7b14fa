//go:build cluster

package scenario

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

// Somebody else's commit between our push and the sync changes nothing of
// ours: the promotion goes on above it.
func TestForeignCommits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	r := s.begin("promote", "image="+s.Image+":v2.0.0")
	for n := 1; n <= 4; n++ {
		s.eventually("a step is committed", func() bool { return s.ours() >= n || r.ended() })
		s.push("Write a note", map[string]string{"notes/" + strings.Repeat("n", n): "seen\n"})
	}
	r.wait().exits(0)
	s.settled("v2.0.0")
	if s.ours() != 4 {
		t.Errorf("%d commits of the promotion, want 4: %q", s.ours(), s.commits())
	}
}

func TestPersonWins(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	r := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=10@60s,100")
	s.eventually("the candidate has traffic", func() bool { return s.liveAt(10) })
	file := s.Overlay + "/knative-promote-" + s.Service + ".yaml"
	theirs := replaced(t, replaced(t, s.read(file), "      percent: 90", "      percent: 70"), "      percent: 10", "      percent: 30")
	s.push("Give it more", map[string]string{file: theirs})

	r.wait().exits(6)
	if s.read(file) != theirs {
		t.Error("the person's traffic was changed")
	}
	s.eventually("the person's traffic is live", func() bool { return s.liveAt(30) })
}

// Of two promotions of one Service at once, one wins whole and the other ends
// superseded, or follows when the first has ended.
func TestTwoPromotionsAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	a := s.begin("promote", "image="+s.Image+":v3.0.0", "steps=50@2s,100")
	b := s.begin("promote", "image="+s.Image+":v4.0.0", "steps=50@2s,100")
	a.wait()
	b.wait()
	codes := []int{a.Code, b.Code}
	if slices.Sort(codes); !slices.Equal(codes, []int{0, 6}) {
		t.Fatalf("exit codes %d and %d, want one promoted and one superseded", a.Code, b.Code)
	}
	if a.Code == 0 {
		s.settled("v3.0.0")
	} else {
		s.settled("v4.0.0")
	}
}

// Eight Services in one repository are promoted at once; every commit of each
// arrives once.
func TestEightServicesOnOneBranch(t *testing.T) {
	t.Parallel()
	first := newSite(t)
	sites := []*site{first}
	for range 7 {
		sites = append(sites, first.neighbour(len(sites)))
	}
	var all sync.WaitGroup
	runs := make([]*run, len(sites))
	for i, s := range sites {
		runs[i] = s.begin("promote", "image="+s.Image+":v2.0.0", "steps=50,100")
		all.Go(func() { runs[i].wait() })
	}
	all.Wait()
	for i, s := range sites {
		runs[i].exits(0)
		s.settled("v2.0.0")
	}
	if n := first.ours(); n != 8*3 {
		t.Errorf("%d commits, want 3 for each of 8 Services", n)
	}
}
