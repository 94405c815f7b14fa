//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
)

// A badImage is a kind of image that must not be promoted.
type badImage struct {
	rule  string // in its tag
	does  string
	gate  string // that must fail; empty: it depends on when the pods go wrong
	ready bool   // at least for a while: only a probe or time tells that it is bad
}

func badImages() []badImage {
	return []badImage{
		{"broken", "cannot be pulled", "live", false},
		{"unschedulable", "has no node that fits", "live", false},
		{"exit1", "exits at once", "live", false},
		{"unready", "never is ready", "live", false},
		{"slow600", "is ready long after Knative's deadline", "live", false},
		{"crash2", "crashes 2 s after it was ready", "", true},
		{"slow3-crash3", "ready after 3 s, crashes 3 s later", "", true},
		{"http500", "ready, answers 500", "probe", true},
		{"http302", "ready, answers with a redirect", "probe", true},
		{"lag15000", "ready, answers after 15 s", "probe", true},
	}
}

func TestBrokenImage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v2.0.0", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	s.promote("v3.0.0-broken", "steps=10,100").exits(8).says("candidate: gate live: ")
	s.restored(good, "v2.0.0")
}

// TestFiftyBrokenImages promotes five bad images in a row to each of ten
// Services. None may be promoted, and each must leave what was there before.
// Beside that it asks `argocd app wait` about the same commits.
//
// It mostly waits, and longest of all, so its Services do not wait for
// t.Parallel, which lets subtests begin after all tests.
func TestFiftyBrokenImages(t *testing.T) {
	t.Parallel()
	images, all := badImages(), &tally{count: map[string][4]int{}}
	t.Cleanup(func() { report(t, "broken-images", all.table(images)) })
	service := func(n int) {
		t.Run(fmt.Sprintf("service-%d", n), func(t *testing.T) {
			s := newSite(t)
			s.promote("v1.1.0", "steps=100").exits(0)
			for round := range 5 {
				s.refuses(images[(n+3*round)%len(images)], all)
			}
			// It can say yes: what it said before was about the images.
			s.must(s.shell(s.Context(), waitForApp, ""))
		})
	}
	var halves sync.WaitGroup
	for n := range 5 {
		halves.Go(func() {
			service(n)
			service(5 + n)
		})
	}
	halves.Wait()
}

// refuses promotes a bad image.
func (s *site) refuses(image badImage, all *tally) {
	s.Helper()
	good := s.git("rev-parse", "main")
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	said := make(chan bool, 1)
	go func() { said <- s.appWait(ctx, good) }()
	public := s.listen(s.host(), 50*time.Millisecond)
	r := s.promote("v2.0.0-"+image.rule, "steps=10@12s,100")
	answers := public.end()
	stop()
	all.add(image, r.Code, <-said)
	r.exits(8).says("Gate failed, rolled back: ", "gate "+image.gate)
	s.restored(good, "v1.1.0")
	for _, a := range answers {
		if image.gate != "" && a.tag() != "v1.1.0" {
			s.Errorf("a request of %s was answered by %s", a.began, a.tag())
		}
	}
}

// A tally counts how promotions of bad images ended.
type tally struct {
	sync.Mutex
	count map[string][4]int // by rule: runs, promoted, rolled back, said healthy
}

func (c *tally) add(image badImage, code int, healthy bool) {
	c.Lock()
	defer c.Unlock()
	counts := c.count[image.rule]
	for i, so := range []bool{true, code == 0, code == 8, healthy} {
		if so {
			counts[i]++
		}
	}
	c.count[image.rule] = counts
}

// table is the tally by kind of image.
func (c *tally) table(images []badImage) string {
	c.Lock()
	defer c.Unlock()
	text := "| Image | Runs | Promoted | Rolled back | `argocd app wait` said healthy |\n| --- | ---: | ---: | ---: | ---: |\n"
	row := func(name string, is func(badImage) bool) {
		var sum [4]int
		for _, image := range images {
			for i, n := range c.count[image.rule] {
				if is(image) {
					sum[i] += n
				}
			}
		}
		text += fmt.Sprintf("| %s | %d | %d | %d | %d |\n", name, sum[0], sum[1], sum[2], sum[3])
	}
	for _, image := range images {
		row(image.does, func(other badImage) bool { return other == image })
	}
	row("all that never were ready in time", func(image badImage) bool { return !image.ready })
	row("all", func(badImage) bool { return true })
	return text
}
