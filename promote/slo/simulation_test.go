package slo

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var promotions = flag.Int("promotions", 40, "how many promotions TestErrorRates simulates for each of its rows")

const (
	lookEvery = 5 // seconds
	minute    = 60 / lookEvery
	// waits is how many looks more than planned a step waits to be decided.
	waits = 5 * minute
)

// A traffic is requests of a simulated promotion and how many of them fail.
type traffic struct {
	rate, fails       float64 // requests a second of the candidate, and the share of them that fails
	oldRate, oldFails float64 // of the old revision, which is not counted where the rate is 0
}

// A plan is the traffic of each step, each of so many looks.
type plan struct {
	looks int
	steps []traffic
}

// tenMinutes is one step, as in a bake at one share.
func tenMinutes(rate, fails float64) plan {
	return plan{10 * minute, []traffic{{rate: rate, fails: fails}}}
}

// loaded is 10@30s,50@30s,100 with a load of ten a second on the candidate.
func loaded(fails float64) plan {
	at := traffic{rate: 10, fails: fails}
	return plan{30 / lookEvery, []traffic{at, at}}
}

// shared is 10@30s,50@30s,100 with so many requests of users a second.
func shared(rate, fails, oldFails float64) plan {
	return plan{30 / lookEvery, []traffic{{rate / 10, fails, rate * 9 / 10, oldFails}, {rate / 2, fails, rate / 2, oldFails}}}
}

// A row is a plan with what is wanted of it: at most so many promotions broken,
// at least so many, and at most so many kept to the end.
type row struct {
	name                string
	plan                plan
	least, most, passes float64
	times               int // as many promotions as the flag says
}

func rows() []row {
	const alarm = 0.001
	return []row{
		{"10 min, 1/s, 0.2 % fail", tenMinutes(1, .002), 0, alarm, 1, 1},
		{"10 min, 0.1/s, 1 % fail", tenMinutes(.1, .01), 0, alarm, 1, 1},
		{"10 min, 10/s, 0.2 % fail", tenMinutes(10, .002), 0, alarm, 1, 1},
		{"10 min, 10/s, 1 % fail", tenMinutes(10, .01), 0, alarm, 1, 1},
		{"10 min, 10/s, 2 % fail", tenMinutes(10, .02), .95, 1, .01, 1},
		{"10 min, 1/s, 5 % fail", tenMinutes(1, .05), .95, 1, .01, 1},
		{"10 min, 0.1/s, 20 % fail", tenMinutes(.1, .2), .95, 1, .01, 1},
		{"load 10/s, 0.2 % fail", loaded(.002), 0, alarm, 1, 1},
		{"load 10/s, 1 % fail", loaded(.01), 0, alarm, 1, 1},
		{"load 10/s, 2 % fail", loaded(.02), .5, 1, .05, 1},
		{"load 10/s, 3 % fail", loaded(.03), .95, 1, .01, 1},
		{"load 10/s, 5 % fail", loaded(.05), .95, 1, 0, 1},
		{"load 10/s, 10 % fail", loaded(.1), .95, 1, 0, 1},
		{"load 10/s, 30 % fail", loaded(.3), .95, 1, 0, 1},
		{"load 10/s, 100 % fail", loaded(1), 1, 1, 0, 1},
		{"users 20/s, 0.2 % fail, old 0.2 %", shared(20, .002, .002), 0, alarm, 1, 10},
		{"users 20/s, 5 % fail, old 5 %", shared(20, .05, .05), 0, alarm, .01, 10},
		{"users 20/s, 30 % fail, old 30 %", shared(20, .3, .3), 0, alarm, 0, 10},
		{"users 20/s, 2 % fail, old 0.2 %", shared(20, .02, .002), .5, 1, .15, 1},
		{"users 20/s, 5 % fail, old 0.2 %", shared(20, .05, .002), .95, 1, .01, 1},
		{"users 20/s, 10 % fail, old 0.2 %", shared(20, .1, .002), .95, 1, 0, 1},
		{"users 20/s, 30 % fail, old 0.2 %", shared(20, .3, .002), .95, 1, 0, 1},
	}
}

// TestErrorRates simulates promotions with a limit of 1 % failures, each looked
// at every five seconds, and counts how often the candidate is called broken:
// by Judge, and by a ratio per minute on the same requests.
func TestErrorRates(t *testing.T) {
	t.Parallel()
	table := []string{"| requests | a failed minute, as failureLimit 0 | failureLimit 3 | broken | after, failures until then | kept | undecided |", "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"}
	for number, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			pick := rand.New(rand.NewPCG(1, uint64(number)))
			var all ends
			for range *promotions * r.times {
				all.add(r.plan.play(pick))
			}
			table = append(table, all.line(r.name))
			runs := all.runs
			if broken, kept := all.broken/runs, all.kept/runs; broken < r.least || broken > r.most || kept > r.passes {
				t.Errorf("broken %.2f %%, expected %.2f to %.2f; kept %.2f %%, expected %.2f at most", broken*100, r.least*100, r.most*100, kept*100, r.passes*100)
			}
		})
	}
	t.Logf("%d promotions each, the limit is 1 %%, a look each %d s:\n%s", *promotions, lookEvery, strings.Join(table, "\n"))
}

// ends counts how promotions ended.
type ends struct{ runs, broken, kept, minutes0, minutes3, seconds, failures float64 }

// add adds those of one promotion.
func (e *ends) add(one ends) {
	e.runs++
	e.broken, e.kept, e.seconds, e.failures = e.broken+one.broken, e.kept+one.kept, e.seconds+one.seconds, e.failures+one.failures
	e.minutes0, e.minutes3 = e.minutes0+one.minutes0, e.minutes3+one.minutes3
}

func (e *ends) line(name string) string {
	percent := func(count float64) string { return share(float64(int(count/e.runs*1000+.5)) / 1000) }
	after := ""
	if e.broken > 0 {
		after = fmt.Sprintf("%.0f s, %.0f", e.seconds/e.broken, e.failures/e.broken)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", name, percent(e.minutes0), percent(e.minutes3),
		share(e.broken/e.runs), after, percent(e.kept), percent(e.runs-e.broken-e.kept))
}

// play runs one promotion to its end. A step that is undecided when its time is
// over goes on for a while. The ratio per minute sees all planned looks, also
// those after the candidate was called broken.
func (p plan) play(pick *rand.Rand) (end ends) {
	objective := Objective{Success: 99, Requests: 50, From: Load}
	if p.steps[0].rate < 1 {
		objective.Requests = 10
	}
	var seen []Stretch
	ratio := perMinute{}
	state := Kept
	for number, at := range p.steps {
		seen = append(seen, Stretch{Step: fmt.Sprint(number)})
		if at.oldRate > 0 {
			seen[number].Old = &Counts{}
		}
		ended := state != Kept
		for look := 1; look <= p.looks || !ended && look <= p.looks+waits; look++ {
			now := drawn(pick, at.rate, at.fails)
			if look <= p.looks {
				ratio.add(now)
			}
			if ended {
				continue
			}
			seen[number].add(now, drawn(pick, at.oldRate, at.oldFails))
			end.seconds += lookEvery
			state = objective.Judge(seen, look >= p.looks).State
			ended = state != Undecided
		}
	}
	end.minutes0, end.minutes3 = ratio.broken(0), ratio.broken(3)
	end.finish(state, seen)
	return end
}

// finish notes how the promotion ended: how long it took is wanted of those that were broken.
func (e *ends) finish(state State, seen []Stretch) {
	switch state {
	case Broken:
		e.broken = 1
		for _, s := range seen {
			e.failures += float64(s.Candidate.Failed)
		}
		return
	case Kept:
		e.kept = 1
	}
	e.seconds = 0
}

func (s *Stretch) add(candidate, old Counts) {
	if s.Candidate = s.Candidate.plus(candidate); s.Old != nil {
		*s.Old = s.Old.plus(old)
	}
}

// drawn are the requests between two looks.
func drawn(pick *rand.Rand, rate, fails float64) (c Counts) {
	for range lookEvery * 20 { // in ticks of 50 ms, as many requests as come at a fixed rate on average
		for due := rate / 20; due > 0; due-- {
			if pick.Float64() >= due {
				continue
			}
			if c.Requests++; pick.Float64() < fails {
				c.Failed++
			}
		}
	}
	return c
}

func (c Counts) plus(more Counts) Counts {
	return Counts{Requests: c.Requests + more.Requests, Failed: c.Failed + more.Failed}
}

// perMinute is the rule of Argo Rollouts' and Flagger's examples: the ratio of
// each minute is measured once, and more failed measurements than a limit fail
// the promotion. A minute without requests is not held against the candidate.
type perMinute struct {
	looks, failed int
	last          Counts
}

func (m *perMinute) add(now Counts) {
	m.last = m.last.plus(now)
	if m.looks++; m.looks%minute > 0 {
		return
	}
	if float64(m.last.Failed) > 0.01*float64(m.last.Requests) {
		m.failed++
	}
	m.last = Counts{}
}

func (m *perMinute) broken(limit int) float64 {
	if m.failed > limit {
		return 1
	}
	return 0
}
