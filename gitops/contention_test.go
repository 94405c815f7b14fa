package gitops_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

var (
	rounds = flag.Int("rounds", 2, "how often the promoters of TestContention commit")
	rivals = flag.Int("rivals", 2, "how many promoters TestContention has")
)

// TestContention has promoters commit to one branch at once, each for a service
// of its own, in some rounds, while a person pushes every 200 ms: each commit is
// there once, and nothing of anybody is lost. What it costs grows with the square
// of their number: each commit makes all others try again.
func TestContention(t *testing.T) {
	promoters := *rivals
	s := serve(t, gittest.Repository{}, infra(), nil)
	person := s.person(t)
	var took durations
	for round := range *rounds {
		var group sync.WaitGroup
		for n := range promoters {
			r := s.open(t) // as a run that begins
			group.Go(func() {
				began := time.Now()
				if _, err := r.Publish(t.Context(), turn(n, round)); err != nil {
					t.Errorf("promoter %d, round %d: %v", n, round, err)
				}
				took.add(time.Since(began))
			})
		}
		group.Wait()
	}
	pushed := person()
	s.checkTurns(t, promoters, *rounds)
	s.checkPerson(t, pushed)
	if lost := s.git(t, "rev-list", "--min-parents=2", "main"); lost != "" {
		t.Errorf("merge commits: %s", lost)
	}
	s.git(t, "fsck", "--strict")
	t.Logf("reliability: %d promoters on one branch at once, %d commits each, beside a person with %d, on real git over HTTP: "+
		"0 lost, 0 twice, linear; median %s, p95 %s, longest %s", promoters, *rounds, pushed, took.part(0.5), took.part(0.95), took.part(1))
}

// turn is a promoter's commit in a round: it counts up, so it sees the one
// before.
func turn(promoter, round int) gitops.Change {
	path := fmt.Sprintf("apps/app-%d/overlays/production/round", promoter)
	return gitops.Change{
		Subject:  fmt.Sprintf("app-%d: %d", promoter, round),
		Trailers: []gitops.Trailer{{Key: "Turn", Value: fmt.Sprintf("%d/%d", promoter, round)}},
		Edit: func(tip gitops.Snapshot) (map[string][]byte, error) {
			before, err := readFile(tip, path)
			if err != nil {
				return nil, err
			}
			if want := strconv.Itoa(round - 1); round > 0 && before != want {
				return nil, fmt.Errorf("the tip has round %q, want %q", before, want)
			}
			return map[string][]byte{path: []byte(strconv.Itoa(round))}, nil
		},
	}
}

// checkTurns fails unless every turn is one commit, in order, and the last one
// is what the tip shows.
func (s server) checkTurns(t *testing.T, promoters, rounds int) {
	t.Helper()
	next := map[int]int{}
	for line := range strings.Lines(s.git(t, "log", "--reverse", "--format=%(trailers:key=Turn,valueonly,separator=)", "main")) {
		var promoter, round int
		if n, _ := fmt.Sscanf(line, "%d/%d", &promoter, &round); n < 2 {
			continue
		}
		if round != next[promoter] {
			t.Errorf("promoter %d: round %d where %d should be", promoter, round, next[promoter])
		}
		next[promoter]++
	}
	for n := range promoters {
		shown := s.git(t, "show", fmt.Sprintf("main:apps/app-%d/overlays/production/round", n))
		if next[n] != rounds || shown != strconv.Itoa(rounds-1) {
			t.Errorf("promoter %d: %d commits, the tip shows round %s; want %d", n, next[n], shown, rounds)
		}
	}
}

// person pushes to other files every 200 ms until the function is called,
// which tells how often that was.
func (s server) person(t *testing.T) (stop func() int) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int)
	r := s.open(t)
	go func() {
		pushed := 0
		for ; ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
			if _, err := r.Publish(t.Context(), write(fmt.Sprintf("docs/%d", pushed), "by hand")); err != nil {
				t.Errorf("the person's push: %v", err)
			}
			pushed++
		}
		done <- pushed
	}()
	return func() int {
		cancel()
		return <-done
	}
}

func (s server) checkPerson(t *testing.T, pushed int) {
	t.Helper()
	if shown := strings.Fields(s.git(t, "ls-tree", "--name-only", "main:docs")); len(shown) != pushed {
		t.Errorf("%d of the person's %d files are there", len(shown), pushed)
	}
}

// durations are how long things took.
type durations struct {
	mu  sync.Mutex
	all []time.Duration
}

func (d *durations) add(one time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = append(d.all, one)
}

// part is the duration that this part of them did not exceed.
func (d *durations) part(p float64) time.Duration {
	slices.Sort(d.all)
	return d.all[min(int(p*float64(len(d.all))), len(d.all)-1)].Round(time.Millisecond)
}

// readFile is a file of a snapshot, empty where there is none.
func readFile(tip gitops.Snapshot, path string) (string, error) {
	content, err := fs.ReadFile(tip.Tree, path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(content), err
}
