package gate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/slo"
)

const (
	// tooSlow is the limit of an answer in simulated promotions.
	tooSlow = 500 * time.Millisecond
	// ticks are how many moments of a second requests come at.
	ticks = 20
	// outage is the second at which images with an outage have it. Where pods are
	// scraped it begins at any second before lastOutage, and ends while both
	// revisions have requests.
	outage, lastOutage = 40, 55
)

// An image is what requests meet in a simulated promotion.
type image struct {
	fails    float64       // the share of its requests that fails
	overload int           // requests of a second, of which those beyond fail; 0: none do
	down     int           // seconds in which all fail, at some time in the middle of the promotion
	lag      time.Duration // how long each answer takes
	leak     time.Duration // each answer takes so much longer than the one before
	weather  weather
}

// Weather is how requests go wrong together: in some seconds many, in the others none.
type weather struct {
	mean   float64 // of all requests
	length int     // seconds of a burst; 0: each second has a share of its own, spread as widely as rho says
	within float64 // the share of the requests in a burst
	rho    float64
	slow   bool // they are slow, and do not fail
	shared bool // both revisions have it at once
}

// begins is the chance that a second begins a burst in which no other one is under way.
func (w weather) begins() float64 {
	inBursts := w.mean / w.within
	return inBursts / (1 - inBursts) / float64(w.length)
}

// A revision runs an image.
type revision struct {
	image
	answered int     // requests since it was made
	now      int     // in this second
	left     int     // seconds of a burst
	spoilt   float64 // the share of its requests that goes wrong in this second
}

// next is what the weather is in the second that begins.
func (r *revision) next(random *rand.Rand) {
	w := r.weather
	switch {
	case w.mean == 0:
	case w.length == 0:
		r.spoilt = beta(random, w.mean*(1/w.rho-1), (1-w.mean)*(1/w.rho-1))
	case r.left > 0:
		r.left--
	case random.Float64() < w.begins():
		r.left = w.length
	}
	if w.length > 0 {
		r.spoilt = 0
		if r.left > 0 {
			r.spoilt = w.within
		}
	}
}

// beta is a number of the beta distribution, by Jöhnk's method.
func beta(random *rand.Rand, a, b float64) float64 {
	for {
		x, y := math.Pow(random.Float64(), 1/a), math.Pow(random.Float64(), 1/b)
		if x+y <= 1 && x+y > 0 {
			return x / (x + y)
		}
	}
}

// A world is one simulated promotion. Users ask the Service, and the run asks as
// it does with a load. All that happens follows from the seed.
type world struct {
	users, load    float64 // requests a second
	byLoad         bool    // the load is counted, else the users' requests
	scrape         int     // seconds between two scrapes of a revision; 0: all is counted at once
	candidate, old revision
	random         *rand.Rand

	clock         int        // seconds since the promotion began
	down          int        // the second at which an outage begins
	seen, seenOld slo.Counts // what was counted of each revision
	failedOfUsers int        // requests that the candidate has failed or answered too late

	phase, phaseOld     int          // the seconds at which each revision is scraped
	scraped, scrapedOld []slo.Counts // what the newest scrape had, second by second
}

// begin is a world in which nothing has happened yet.
func (s scene) begin(t trial, seed int) *world {
	w := &world{
		users: s.users, load: s.load, byLoad: s.load > 0, scrape: s.scrape, candidate: revision{image: t.image}, old: revision{image: t.old},
		random: rand.New(rand.NewPCG(1, uint64(seed))), down: outage,
	}
	if s.scrape > 0 {
		w.phase, w.phaseOld, w.down = w.random.IntN(s.scrape), w.random.IntN(s.scrape), w.random.IntN(lastOutage)
		w.read()
	}
	return w
}

// read scrapes the revisions whose time it is.
func (w *world) read() {
	scrape := func(all []slo.Counts, seen slo.Counts, phase int) []slo.Counts {
		if w.clock%w.scrape != phase {
			seen = slo.Counts{}
			if len(all) > 0 {
				seen = all[len(all)-1]
			}
		}
		return append(all, seen)
	}
	w.scraped, w.scrapedOld = scrape(w.scraped, w.seen, w.phase), scrape(w.scrapedOld, w.seenOld, w.phaseOld)
}

// second lets one pass in which the candidate has so many percent of the traffic.
func (w *world) second(percent int) {
	w.candidate.now, w.old.now = 0, 0
	w.candidate.next(w.random)
	if w.old.next(w.random); w.candidate.weather.shared {
		w.old.spoilt = w.candidate.spoilt
	}
	for tick := range ticks {
		for range w.due(w.users, tick) {
			w.userAsks(percent)
		}
		for range w.due(w.load, tick) {
			w.ask(&w.candidate, &w.seen)
			if percent <= mostlyOld {
				w.ask(w.routed(percent), &w.seenOld)
			}
		}
	}
	w.clock++
	if w.scrape > 0 {
		w.read()
	}
}

// due is how many requests come at a moment of the present second.
func (w *world) due(rate float64, tick int) int {
	const least = 1e-9 // a request is not late by the noise of binary fractions
	moment := float64(w.clock*ticks + tick)
	return int((moment+1)*rate/ticks+least) - int(moment*rate/ticks+least)
}

// routed is whom a request to the Service reaches.
func (w *world) routed(percent int) *revision {
	if w.random.IntN(100) < percent {
		return &w.candidate
	}
	return &w.old
}

func (w *world) userAsks(percent int) {
	to := w.routed(percent)
	count := new(slo.Counts)
	switch {
	case w.byLoad:
	case to == &w.candidate:
		count = &w.seen
	default:
		count = &w.seenOld
	}
	if bad := w.ask(to, count); bad && to == &w.candidate {
		w.failedOfUsers++
	}
}

// ask sends one request, counts the answer, and tells whether it was bad.
func (w *world) ask(r *revision, count *slo.Counts) bool {
	took := r.lag + time.Duration(r.answered)*r.leak
	r.answered, r.now = r.answered+1, r.now+1
	failed := w.random.Float64() < r.fails || r.overload > 0 && r.now > r.overload || w.clock >= w.down && w.clock < w.down+r.down
	spoilt := r.spoilt > 0 && w.random.Float64() < r.spoilt
	if failed = failed || spoilt && !r.weather.slow; spoilt && r.weather.slow {
		took = 2 * tooSlow
	}
	count.Requests++
	if failed {
		count.Failed++
	}
	if took > tooSlow {
		count.Slow++
	}
	return failed || took > tooSlow
}

// counter counts what comes in a step, as measurement wants it.
func (w *world) counter(percent int, late time.Duration) func(context.Context) (counts, error) {
	began, clock, seen, seenOld := time.Now(), w.clock, w.seen, w.seenOld
	if w.scrape > 0 {
		before := max(0, clock-int(late/time.Second))
		seen, seenOld = w.scraped[before], w.scrapedOld[before]
	}
	seconds := []second{}
	return func(context.Context) (counts, error) {
		for w.clock-clock < int(time.Since(began)/time.Second) {
			one := second{at: began.Add(time.Duration(w.clock-clock) * time.Second)}
			before, beforeOld := w.seen, w.seenOld
			w.second(percent)
			one.Candidate = w.seen.Since(before)
			if percent <= mostlyOld {
				one.Old = w.seenOld.Since(beforeOld)
			}
			seconds = append(seconds, one)
		}
		now, old := w.seen, w.seenOld
		if w.scrape > 0 {
			now, old = w.scraped[w.clock], w.scrapedOld[w.clock]
		}
		c := counts{candidate: now.Since(seen)}
		if w.byLoad {
			c.seconds = slices.Clone(seconds)
		}
		if !w.byLoad || percent <= mostlyOld {
			old = old.Since(seenOld)
			c.old = &old
		}
		return c, nil
	}
}

// promote has every step judged as a run does it.
func (w *world) promote(ctx context.Context, steps []Step) (last end) {
	objective := slo.Default()
	if w.candidate.lag+w.candidate.leak > 0 || w.candidate.weather.slow {
		objective.Latency, objective.Fast = tooSlow, 99
	}
	var late time.Duration
	if w.scrape > 0 {
		objective.From, objective.Scrape = slo.Knative, time.Duration(w.scrape)*time.Second
		late = metrics.Late(objective)
	}
	var seen []slo.Period
	for _, step := range steps {
		m := measurement{
			objective: objective, count: w.counter(step.Percent, late), bake: step.Bake, wait: 5 * time.Minute,
			seen: seen, say: func(string, ...any) {}, late: late,
		}
		_, err := m.judge(ctx, fmt.Sprintf("%d %%", step.Percent))
		seen = m.seen
		last = end{event.Promoted, step.Percent, w.clock, w.failedOfUsers}
		switch {
		case inconclusive(err):
			last.status = event.Held
			return last
		case err != nil:
			last.status = event.RolledBack
			return last
		}
	}
	return last
}
