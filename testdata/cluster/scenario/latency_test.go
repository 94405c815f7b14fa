//go:build cluster

package scenario

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
)

// TestLatency measures how long after Kubernetes the program knows that a
// commit is live, over 30 promotions, and a whole promotion beside the shell
// pipeline, which has no candidate, on a Service of the same kind. Only what
// does not depend on the machine is asserted: no verdict comes before the fact.
//
// It runs alone, for the sake of its numbers.
func TestLatency(t *testing.T) {
	ours, theirs := newSite(t), newSiteNamed(t, nameOf(t.Name()+"/shell"))
	here, there := ours.watch(), theirs.watch()
	runs := 30
	if testing.Short() {
		runs = 4
	}
	var verdicts []verdict
	var whole, shell, shellTrue []time.Duration
	for n := range runs {
		tag := fmt.Sprintf("v2.%d.0", n)
		began := time.Now()
		verdicts = append(verdicts, ours.times(here, tag)...)
		whole = append(whole, time.Since(began))
		if n%3 == 0 {
			took, truth := theirs.timesShell(there, tag)
			shell, shellTrue = append(shell, took), append(shellTrue, truth)
		}
	}
	ours.settled(fmt.Sprintf("v2.%d.0", runs-1))
	report(t, "latency", latencies(verdicts)+"\n"+wholes(whole, shell, shellTrue))
}

// timesShell runs the shell pipeline, and tells how long it took and how long
// until Kubernetes was ready with the image. It is cut off where it hangs:
// Argo CD can lose the refresh that its command line ends with.
func (s *site) timesShell(sights *watcher, tag string) (took, truth time.Duration) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), shellPatience)
	defer stop()
	began := time.Now()
	if err := s.shell(ctx, pipeline, tag); ctx.Err() == nil {
		s.must(err)
	}
	took = time.Since(began)
	ready := s.eventuallyAt(sights, func(live *servingv1.Service) bool { return shows(live, s.Image+":"+tag, -1) })
	return took, ready.Sub(began)
}

const shellPatience = time.Minute

// A verdict is one commit's way: pushed, seen ready by a watch on the
// Kubernetes API, and declared live by the program.
type verdict struct {
	step                string
	pushed, ready, said time.Time
}

// times promotes an image and notes its two verdicts. When one is said,
// Kubernetes must show what it says.
func (s *site) times(sights *watcher, tag string) []verdict {
	s.Helper()
	image := s.Image + ":" + tag
	all := []verdict{{step: "candidate"}, {step: "100 %"}}
	share := []int64{0, 100}
	before := s.git("rev-parse", "main")
	r := s.begin("promote", "image="+image, "steps=100", "probe=", "probe-connect=")
	done := make(chan *run, 1)
	go func() { done <- r.wait() }()
	for pushes, said := 0, 0; said < len(all); time.Sleep(2 * time.Millisecond) {
		if commit, pushed := s.tip(); commit != "" && commit != before && pushes < len(all) {
			all[pushes].pushed, before = pushed, commit
			pushes++
		}
		if strings.Count(r.log.String(), "live: passed") > said {
			all[said].said = time.Now()
			if live := s.live(); !shows(live, image, share[said]) {
				s.Fatalf("%s of %s was declared live, but Kubernetes shows %+v and %+v", all[said].step, tag, live.Spec.Traffic, live.Status)
			}
			said++
		}
		select {
		case ended := <-done:
			done <- ended
			ended.exits(0)
		default:
		}
	}
	(<-done).exits(0)
	for i := range all {
		all[i].ready = s.eventuallyAt(sights, func(live *servingv1.Service) bool { return shows(live, image, share[i]) })
	}
	return all
}

// shows tells whether the Service is ready with an image and its share of the
// traffic, or any where that is negative.
func shows(live *servingv1.Service, image string, percent int64) bool {
	if live.Spec.Template.Spec.Containers[0].Image != image {
		return false
	}
	if percent < 0 {
		return live.IsReady() && live.Status.ObservedGeneration == live.Generation && live.Status.LatestReadyRevisionName == live.Status.LatestCreatedRevisionName
	}
	return routes(live, live.Spec.Template.Name, percent)
}

// eventuallyAt is when a watcher first saw a state, which it may be about to.
func (s *site) eventuallyAt(sights *watcher, is func(*servingv1.Service) bool) (at time.Time) {
	s.Helper()
	s.eventually("the watch sees the state", func() (seen bool) {
		at, seen = sights.first(is)
		return seen
	})
	return at
}

// latencies is the table of verdicts.
func latencies(all []verdict) string {
	var text strings.Builder
	text.WriteString("| Seconds: median, p95, max of n | Push to ready in Kubernetes | Push to verdict | Verdict after ready |\n| --- | ---: | ---: | ---: |\n")
	for _, step := range []string{"candidate", "100 %", ""} {
		var ready, said, after []time.Duration
		for _, v := range all {
			if step == "" || v.step == step {
				ready, said, after = append(ready, v.ready.Sub(v.pushed)), append(said, v.said.Sub(v.pushed)), append(after, v.said.Sub(v.ready))
			}
		}
		fmt.Fprintf(&text, "| %s, n=%d | %s | %s | %s |\n", cmp.Or(step, "all commits"), len(after), spread(ready), spread(said), spread(after))
	}
	return text.String()
}

// wholes is the table of whole promotions.
func wholes(ours, shell, shellTrue []time.Duration) string {
	var early, hung int
	for i := range shell {
		if shell[i] < shellTrue[i] {
			early++
		}
		if shell[i] >= shellPatience {
			hung++
		}
	}
	return "| A whole promotion, seconds: median, p95, max | Runs | |\n| --- | ---: | ---: |\n" +
		fmt.Sprintf("| knative-promote, candidate and 100 %% | %d | %s |\n", len(ours), spread(ours)) +
		fmt.Sprintf("| clone, kustomize edit, push, `argocd app wait`; %d hung and were cut off | %d | %s |\n", hung, len(shell), spread(shell)) +
		fmt.Sprintf("| the same, until Kubernetes really was ready; %d had ended before | %d | %s |\n", early, len(shell), spread(shellTrue))
}

// spread is the median, the 95th percentile and the greatest of some durations.
func spread(all []time.Duration) string {
	slices.Sort(all)
	at := func(part float64) float64 { return all[int(part*float64(len(all)-1)+0.5)].Seconds() }
	return fmt.Sprintf("%.2f, %.2f, %.2f", at(0.5), at(0.95), at(1))
}
