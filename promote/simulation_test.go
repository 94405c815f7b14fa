package promote

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops/kustomize"
	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/facts"
	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/guard"
	"github.com/acme/knative-promote/promote/plan"
)

var (
	seeds   = flag.Int("seeds", 50, "how many simulated promotions TestSimulation runs")
	oneSeed = flag.Uint64("seed", 0, "the only seed that TestSimulation runs, with what happened in it")
)

// runsMost is how often a promotion is started, the last times in peace.
const runsMost = 8

// TestSimulation runs promotions against models of the infra repository and of
// the cluster, in virtual time. A seed draws what happens to each: faults of
// both, lost replies, delays, crashes, cancels, bad images, and other people
// who push. A run that did not come to its end is started again, in the end
// without any of that. A seed that fails is run alone with -seed.
//
// In every third history two images are promoted, one after the other, while
// revisions begin to crash or are collected, the Service and its cluster are made anew,
// and people tag revisions, roll back in Argo CD and take the Service out.
//
// After each run the promises hold, and what it says is true. After each history users
// are answered as it says, and what the program says next leads to a Service that is
// routed as Git has it, to revisions that are Ready.
func TestSimulation(t *testing.T) {
	t.Parallel()
	first, count := uint64(1), uint64(*seeds)
	if testing.Short() {
		count = min(count, 20)
	}
	if *oneSeed > 0 {
		first, count = *oneSeed, 1
	}
	ends, events := simulate(t, first, count)
	t.Logf("reliability: %d simulated promotions, each with faults, crashes and rivals from a seed: %s; no promise broken", count, listed(ends))
	t.Logf("events of the cluster and of people: %v", events)
	if count < 100 {
		return
	}
	for _, e := range allEvents() {
		if events[e.kind] == 0 {
			t.Errorf("not once does it happen that %s", e.kind)
		}
	}
	for _, status := range []event.Status{event.Promoted, event.RolledBack, event.Held, event.Superseded, event.Unchanged} {
		if ends[status] == 0 {
			t.Errorf("no promotion ended %s, so the simulation does not reach that", status)
		}
	}
}

// listed are how promotions ended, the most frequent first.
func listed(ends map[event.Status]int) string {
	names := slices.SortedFunc(maps.Keys(ends), func(a, b event.Status) int { return ends[b] - ends[a] })
	var parts []string
	for _, status := range names {
		parts = append(parts, fmt.Sprintf("%d %s", ends[status], status))
	}
	return strings.Join(parts, ", ")
}

// simulate runs the promotions of these seeds, as many at a time as there are
// processors, and counts how they end and what has happened in them.
func simulate(t *testing.T, first, count uint64) (ends map[event.Status]int, events map[string]int) {
	var mu sync.Mutex
	ends, events = map[event.Status]int{}, map[string]int{}
	t.Run("seeds", func(t *testing.T) {
		at := uint64(runtime.GOMAXPROCS(0))
		for worker := range at {
			t.Run(fmt.Sprint(worker), func(t *testing.T) {
				t.Parallel()
				for seed := first + worker; seed < first+count && !t.Failed(); seed += at {
					status, happened := simulateOne(t, seed)
					mu.Lock()
					ends[status]++
					for kind, n := range happened {
						events[kind] += n
					}
					mu.Unlock()
				}
			})
		}
	})
	return ends, events
}

func simulateOne(t *testing.T, seed uint64) (status event.Status, happened map[string]int) {
	synctest.Test(t, func(t *testing.T) {
		m := newModel(seed)
		var err error
		if status, err = m.play(t.Context()); m.shaken && err == nil {
			m.goOn()
			status, err = m.play(t.Context())
		}
		if err == nil && status == event.Promoted && seed%4 == 0 {
			m.tell("- it is started again after its end")
			status, err = m.play(t.Context())
		}
		if err == nil {
			err = m.recovers(t.Context(), status)
		}
		err = errors.Join(err, m.promises(t.Context()))
		if err != nil || *oneSeed > 0 {
			t.Logf("seed %d:\n%s", seed, strings.Join(m.story, "\n"))
		}
		if err != nil {
			t.Errorf("seed %d ends %s: %v\ngo test ./promote -run Simulation -seed %d", seed, status, err, seed)
		}
		happened = m.events
	})
	return status, happened
}

// goOn has the next image promoted after this one.
func (m *model) goOn() {
	config := newConfig(m.pick)
	config.CandidateTag, config.Images[0].NewTag = m.config.CandidateTag, "v3"
	m.config, m.peace = config, false
	m.cluster.manual = false
}

// play runs the promotion until it has come to an end, and tells what is wrong
// with that.
func (m *model) play(ctx context.Context) (status event.Status, err error) {
	for run := range runsMost {
		m.peace = run >= runsMost-2
		if m.peace && m.trees[m.tip()][guard.DefaultWindows] != nil {
			m.setStop(false)
		}
		result, crashed, runErr := m.run(ctx, run > 0)
		if crashed {
			m.tell("run %d crashed", run)
			time.Sleep(m.upTo(20 * time.Minute))
			continue
		}
		m.tell("run %d: %s: %v", run, result.Status, runErr)
		if err := m.truth(ctx, result, runErr); err != nil {
			return result.Status, err
		}
		if ended(result.Status) && !result.Frozen || m.peace && result.Status == event.Failed && m.needsPerson() {
			return result.Status, nil
		}
		time.Sleep(m.upTo(20 * time.Minute))
	}
	return event.Failed, fmt.Errorf("it comes to no end, even in peace")
}

// ended tells whether a run has come to one of the ends that another run does
// not change.
func ended(status event.Status) bool {
	return slices.Contains([]event.Status{event.Promoted, event.Unchanged, event.RolledBack, event.Held, event.Superseded}, status)
}

// needsPerson tells whether a run may say that it failed, however often it is
// started again: where somebody's change by hand is one that Knative refuses.
func (m *model) needsPerson() bool { return m.touch || len(m.events) > 0 }

// A crash is what a run is ended with from inside the models.
type crash struct{}

// run starts the program once, or again.
func (m *model) run(ctx context.Context, again bool) (result event.Result, crashed bool, err error) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case crash:
			crashed = true
		default:
			panic(cause)
		}
	}()
	clear(m.told)
	m.unsure = false
	ctx, cancel := context.WithTimeout(ctx, 3*time.Hour)
	defer cancel()
	if m.odds("cancelled", 12) {
		timer := time.AfterFunc(m.upTo(10*time.Minute), cancel)
		defer timer.Stop()
	}
	m.saw, m.over = false, false
	m.config.RunAgain = again && m.config.RunURL != ""
	results, err := Run(ctx, m.config, m.systems())
	return results[0], false, err
}

func (m *model) systems() Systems {
	return Systems{Branch: m, Commits: m, Cluster: m, Facts: facts.Systems{Setup: m}, Reporter: m}
}

// allBut are the rules of the check that the simulation has nothing for.
func allBut(asked string) (skipped []string) {
	for _, rule := range check.Rules() {
		if rule.ID != asked {
			skipped = append(skipped, rule.ID)
		}
	}
	return skipped
}

// newConfig is a promotion as somebody may ask for it.
func newConfig(pick *rand.Rand) Config {
	plans := [][]plan.Step{{{Percent: 100}}, {{Percent: 10, Bake: time.Minute}, {Percent: 100}}, {{Percent: 10}, {Percent: 50, Bake: 5 * time.Minute}, {Percent: 100}}, {{Percent: 50}}}
	policies := []Policy{RollBack, RollBack, Hold}
	return Config{
		Settings: plan.Settings{CandidateTag: "candidate", Steps: plans[pick.IntN(len(plans))], KeepPrevious: pick.IntN(2) == 0, RunURL: []string{"", "https://example.com/runs/1"}[pick.IntN(2)]},
		Targets:  []plan.Target{{Overlay: "web", Target: argo.Target{Source: argo.Source{RepoURL: infraURL, Branch: "main", Path: "web"}}}}, Images: []kustomize.Image{{Name: "web", NewTag: "v2"}}, Preflight: PreflightError, Skip: allBut(check.Drifted),
		OnFailure: policies[pick.IntN(len(policies))], OnCancel: policies[pick.IntN(len(policies))],
		Gates: gate.Settings{Wait: 5 * time.Minute},
	}
}
