package gate

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/event"
)

var (
	promotions = flag.Int("promotions", 8, "how many promotions TestJudgedImages simulates of each image")
	good       = flag.Int("good", 10, "how many of a good image in the tables that have more of these")
)

// A trial is an image, and what is wanted of its promotions.
type trial struct {
	name       string
	image, old image
	good       bool    // its promotions are to succeed
	promoted   float64 // the share that may be promoted at most, of good ones at least
	caught     float64 // the share that must be caught at least, of good ones at most
}

// A scene is how images are promoted.
type scene struct {
	name        string
	users, load float64 // requests a second
	scrape      int     // seconds between two scrapes of a pod; 0: all is counted at once
	steps       []Step
	trials      []trial
	more        bool // promotions of good images
}

func scenes() []scene {
	const alarm = 0.001 // of good ones may be caught
	short := []Step{{Percent: 10, Bake: 30 * time.Second}, {Percent: 50, Bake: 30 * time.Second}, {Percent: 100}}
	long := []Step{{Percent: 10, Bake: 5 * time.Minute}, {Percent: 50, Bake: 5 * time.Minute}, {Percent: 100}}
	usual, down, shortly, moment := image{fails: 0.002}, image{down: 5}, image{down: 2}, image{down: 1}
	least := []trial{
		{"fails 2 %", image{fails: .02}, usual, false, .05, .5},
		{"fails 5 %", image{fails: .05}, usual, false, 0, .95},
		{"fails 10 %", image{fails: .1}, usual, false, 0, .95},
		{"fails 30 %", image{fails: .3}, usual, false, 0, .95},
		{"good: fails 0.2 %", usual, usual, true, .98, alarm},
	}
	all := append(slices.Clone(least),
		trial{"fails 100 %", image{fails: 1}, usual, false, 0, 1},
		trial{"fails beyond 15 requests a second", image{overload: 15}, usual, false, 0, .95},
		trial{"answers after 800 ms", image{lag: 800 * time.Millisecond}, usual, false, 0, .95},
		trial{"answers 2 ms later each time", image{leak: 2 * time.Millisecond}, usual, false, 0, .95},
		trial{"good: fails nothing", image{}, image{}, true, 1, alarm},
		trial{"as the old one: fails 2 %", image{fails: .02}, image{fails: .02}, true, 0, .05},
		trial{"as the old one: fails 5 %", image{fails: .05}, image{fails: .05}, true, 0, alarm},
	)
	few := slices.Clone(least[1:])
	few[0].caught = .8 // of one request a second at most 900 are seen
	apart := slices.Concat([]trial{{"fails 2 %", image{fails: .02}, usual, false, .05, .4}}, all[1:6], all[7:8], all[9:], []trial{
		{"as the old one: 2 s down", shortly, shortly, true, 0, alarm},
		{"as the old one: 5 s down", down, down, true, 0, alarm},
	})
	load := slices.Concat(all, []trial{
		{"1 s down", moment, image{}, true, 0, alarm},
		{"5 s down", down, image{}, false, 0, 1},
		{"as the old one: 1 s down", moment, moment, true, 0, alarm},
		{"as the old one: 2 s down", shortly, shortly, true, 0, .01},
		{"as the old one: 5 s down", down, down, true, 0, 1},
	}, storms(.015, alarm))
	all = slices.Concat(all, []trial{{"as the old one: 5 s down", down, down, true, 0, alarm}}, storms(.25, .25))
	apart = append(apart, storms(.25, .25)...)
	return []scene{
		{"`load: / 10/s`, `steps: 10@30s,50@30s,100`, 20 requests of users a second:", 20, 10, 0, append([]Step{{}}, short...), load, true},
		{"The requests of users counted, 20 a second, `steps: 10@30s,50@30s,100`:", 20, 0, 0, short, all, true},
		{"The same, counted by pods that are scraped one after the other, `from=knative scrape=5s`:", 20, 0, 5, short, apart, true},
		{"The same with `scrape=15s`:", 20, 0, 15, short, apart, true},
		{"The same with `scrape=1m`, as without `scrape`:", 20, 0, 60, short, apart, true},
		{"The requests of users counted, 10 a second, `steps: 10@5m,50@5m,100`:", 10, 0, 0, long, least, false},
		{"`load: / 1/s`, `steps: 10@10m`, one request of users a second:", 1, 1, 0, []Step{{Percent: 10, Bake: 10 * time.Minute}}, few, false},
	}
}

// storms are images that keep the limit, of which what goes wrong goes wrong together. So many may be caught of those
// that have such weather each for itself, and of those that have it at once with the old one.
func storms(alone, shared float64) (all []trial) {
	for _, kind := range []struct {
		name string
		weather
	}{
		{"fails 0.5 % in bursts of 2 s", weather{mean: .005, length: 2, within: .5}},
		{"0.5 % slow in stalls of 2 s", weather{mean: .005, length: 2, within: .8, slow: true}},
		{"fails 1 % unevenly", weather{mean: .01, rho: .2}},
	} {
		own := image{weather: kind.weather}
		kind.shared = true
		same := image{weather: kind.weather}
		all = append(all, trial{kind.name + ", as the old one at other times", own, own, true, 0, alone}, trial{kind.name + ", with the old one", same, same, true, 0, shared})
	}
	return all
}

// TestJudgedImages simulates promotions of bad and good images, judged with the
// limits 1 % failures and 1 % slower than 500 ms, and how Argo Rollouts' and
// Flagger's rule ends the same ones.
func TestJudgedImages(t *testing.T) {
	t.Parallel()
	var table []string
	for number, s := range scenes() {
		table = append(table, "", s.name, "", header, "| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
		for _, trial := range s.trials {
			t.Run(fmt.Sprint(number, " ", trial.name), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					table = append(table, s.line(t, trial))
				})
			})
		}
	}
	for _, line := range table {
		t.Log("gates: " + line)
	}
}

const header = "| Image | Promoted | Caught | at | Held | Seconds until caught | Users' failed requests | Ratio per minute, `failureLimit: 0` | `failureLimit: 3` |"

// line is the row of the table for a trial.
func (s scene) line(t *testing.T, trial trial) string {
	runs := *promotions
	if s.more && trial.good && trial.promoted > 0 {
		runs = *good
	}
	var judged, none, three ends
	for seed := range runs {
		judged = append(judged, s.begin(trial, seed).promote(t.Context(), s.steps))
		none = append(none, s.begin(trial, seed).perMinute(s.steps, 0))
		three = append(three, s.begin(trial, seed).perMinute(s.steps, 3))
	}
	promoted, caught := judged.share(event.Promoted), judged.share(event.RolledBack)
	least := math.Floor(trial.caught*float64(runs)) / float64(runs) // of a few, one may be the exception that many have
	if trial.good && (promoted < trial.promoted || caught > trial.caught) || !trial.good && (promoted > trial.promoted || caught < least) {
		t.Errorf("promoted %g, caught %g; want %+v", promoted, caught, trial)
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", trial.name, percent(promoted), percent(caught), judged.places(),
		percent(judged.share(event.Held)), judged.until(end.seconds), judged.until(end.failures), none.brief(), three.brief())
}

// An end is how a simulated promotion ended.
type end struct {
	status event.Status // Promoted, RolledBack or Held
	at     int          // percent of the step
	after  int          // seconds
	failed int          // requests of users by then
}

func (e end) seconds() int  { return e.after }
func (e end) failures() int { return e.failed }

type ends []end

func (e ends) caught() ends {
	return slices.DeleteFunc(slices.Clone(e), func(one end) bool { return one.status != event.RolledBack })
}

func (e ends) share(status event.Status) float64 {
	count := 0
	for _, one := range e {
		if one.status == status {
			count++
		}
	}
	return float64(count) / float64(len(e))
}

// places says at which steps how many were caught.
func (e ends) places() string {
	caught := e.caught()
	slices.SortFunc(caught, func(a, b end) int { return cmp.Compare(a.at, b.at) })
	var all []string
	for len(caught) > 0 {
		at := caught[0].at
		rest := slices.DeleteFunc(slices.Clone(caught), func(one end) bool { return one.at == at })
		all = append(all, fmt.Sprintf("%d %% (%d)", at, len(caught)-len(rest)))
		caught = rest
	}
	return strings.Join(all, ", ")
}

// until is the median and the 95th percentile of those that were caught.
func (e ends) until(value func(end) int) string {
	var values []int
	for _, one := range e.caught() {
		values = append(values, value(one))
	}
	if len(values) == 0 {
		return ""
	}
	slices.Sort(values)
	return fmt.Sprintf("%d, %d", values[len(values)/2], values[len(values)*95/100])
}

// brief says how many were caught, after how many seconds, and how many requests
// of users had failed by then.
func (e ends) brief() string {
	text := percent(e.share(event.RolledBack))
	seconds, _, _ := strings.Cut(e.until(end.seconds), ",")
	failed, _, _ := strings.Cut(e.until(end.failures), ",")
	if seconds != "" {
		text += "; " + seconds + " s, " + failed
	}
	return text
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
