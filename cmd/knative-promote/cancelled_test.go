package main

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acme/knative-promote/cmd/knative-promote/exit"
)

// patience is how long the Actions runner waits after SIGINT before it sends
// SIGTERM.
const patience = 7500 * time.Millisecond

var cancels = flag.Int("cancels", 2, "how often TestCancelledAnywhere cancels a promotion")

// TestCancelledAnywhere cancels a promotion as the runner does, at moments that
// are spread over it: it ends while the runner is patient, and either all is
// rolled back in Git by then or nothing was begun, as it says itself.
func TestCancelledAnywhere(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	ends := map[string]int{}
	t.Cleanup(func() {
		var all []string
		for _, end := range slices.Sorted(maps.Keys(ends)) {
			all = append(all, fmt.Sprintf("%d %s", ends[end], end))
		}
		t.Logf("reliability: %d promotions cancelled as the runner does, at any moment: %s", *cancels, strings.Join(all, ", "))
	})
	for n := range *cancels {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			end := cancelAfter(t, time.Duration(n)*2500*time.Millisecond/time.Duration(*cancels))
			mu.Lock()
			defer mu.Unlock()
			ends[end]++
		})
	}
}

// cancelAfter cancels a promotion so long after its first line, and says how it
// ended.
func cancelAfter(t *testing.T, moment time.Duration) string {
	w := worldOf(t)
	p := w.promoting(t, "--steps", "10,50,100", "--on-cancel", "rollback")
	if err := w.await("a line", func() bool { return strings.Contains(p.out.String(), "preflight: ") }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(moment)
	p.cancel(t)
	if _, err := w.checkPromises(); err != nil {
		t.Error(err)
	}
	return w.cancelledAs(t, p)
}

// cancelledAs says how a cancelled promotion ended, and fails the test where
// the infra repository shows something else than the program says.
func (w *world) cancelledAs(t *testing.T, p *process) string {
	t.Helper()
	out, last := p.out.String(), ""
	if subjects := w.subjects(t); len(subjects) > 0 {
		last = subjects[len(subjects)-1]
	}
	says := strings.Contains(out, "it is restored in Git")
	switch code := p.exit(); {
	case code == "0" && (strings.Contains(last, ": 100 % to ") || strings.HasSuffix(last, ": 100 % passed")):
		return "promoted before"
	case code == strconv.Itoa(exit.Cancelled) && says && strings.Contains(last, ": back to "):
		return "rolled back"
	case code == strconv.Itoa(exit.Cancelled) && !says && last == "":
		return "with nothing committed"
	default:
		t.Errorf("it ended with %s, and the last commit is %q:\n%s", code, last, out)
		return "otherwise"
	}
}

// TestCancelledWhileSilent cancels a promotion that has its candidate at 0 %
// and waits for a server that says nothing any more: it ends before the runner
// loses its patience. Without -more, each server is tried with one policy.
func TestCancelledWhileSilent(t *testing.T) {
	t.Parallel()
	for n, host := range []string{"git", "argocd", "github"} {
		for i, policy := range []string{"hold", "rollback"} {
			if (n+i)%oneOf(2, 1) != 0 {
				continue
			}
			t.Run(host+"/"+policy, func(t *testing.T) {
				t.Parallel()
				cancelWhileSilent(t, host, policy)
			})
		}
	}
}

func cancelWhileSilent(t *testing.T, host, policy string) {
	x := &trouble{host: host, fault: "silent", at: "after 1", lasting: true}
	w := x.world(t)
	p := w.promoting(t, "--steps", "50@1m,100", "--on-cancel", policy)
	silent := func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return x.hits > 0
	}
	if err := w.await("the server to be asked", silent); err != nil {
		t.Fatalf("%v:\n%s", err, p.out.String())
	}
	p.cancel(t)
	if code := p.exit(); code != strconv.Itoa(exit.Cancelled) && code != strconv.Itoa(exit.NotRestored) {
		t.Errorf("it ended with %s:\n%s", code, p.out.String())
	}
	if _, err := w.checkPromises(); err != nil {
		t.Error(err)
	}
}

// TestCancelledInGates cancels a promotion while each of its gates waits for an
// answer that does not come: it ends before the runner loses its patience, and
// nothing is half done. Without -more, two gates in three are tried, with one policy each.
func TestCancelledInGates(t *testing.T) {
	t.Parallel()
	gates := map[string][]string{"kourier": append(measuredGates(), "--load", "/healthz?load 50/s", "--probe-connect", "GATES")}
	for _, who := range []string{"warm-up", "probe", "compare", "load", "web", "up"} {
		gates[who] = askingGates()
	}
	for n, who := range slices.Sorted(maps.Keys(gates)) {
		for i, policy := range []string{"hold", "rollback"} {
			if (n*2+i)%oneOf(3, 1) != 0 {
				continue
			}
			t.Run(who+"/"+policy, func(t *testing.T) {
				t.Parallel()
				cancelInGate(t, who, policy, gates[who])
			})
		}
	}
}

func cancelInGate(t *testing.T, who, policy string, args []string) {
	g := worldWithGates(t, who)
	w := g.world
	p := w.promoting(t, append(slices.Clone(args), "--steps", "50@1m,100", "--on-cancel", policy, "--preflight", "off")...)
	if err := w.await(who+" to be asked", func() bool { return g.hasAsked(who) }); err != nil {
		t.Fatalf("%v:\n%s", err, p.out.String())
	}
	p.cancel(t)
	last, want := w.subjects(t), "candidate"
	if policy == "rollback" {
		want = "back to"
	}
	if code := p.exit(); code != strconv.Itoa(exit.Cancelled) || !strings.Contains(last[len(last)-1], want) {
		t.Errorf("it ended with %s, and the commits are %q:\n%s", code, last, p.out.String())
	}
	if _, err := w.checkPromises(); err != nil {
		t.Error(err)
	}
}

// promoting is a promotion that has begun.
func (w *world) promoting(t *testing.T, flags ...string) *process {
	t.Helper()
	return w.begun(t, nil, append([]string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0"}, flags...))
}

// cancel interrupts a process, which ends before the runner loses its patience.
func (p *process) cancel(t *testing.T) {
	t.Helper()
	p.interrupt()
	select {
	case <-p.done:
	case <-time.After(patience):
		t.Fatalf("it still runs %s after SIGINT:\n%s", patience, p.out.String())
	}
}
