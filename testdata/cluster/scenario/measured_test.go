//go:build cluster

package scenario

import (
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	measuredSites  = flag.Int("sites", 1, "sites on which each image is promoted side by side")
	measuredRounds = flag.Int("image-rounds", 1, "how often each image is promoted on each site")
	measuredImages = flag.String("images", "", "regular expression of the images that are promoted; empty: all")
	measuredWait   = flag.String("wait-for-data", "1m", "the input of each promotion")
)

// A trial is a kind of image, and how many promotions of it may go wrong: a bad
// one promoted, a good one not.
type trial struct {
	name   string
	tag    string // of the image, without its number
	slo    string
	good   bool
	before string // the same of the image that is live before; empty: a good one
}

const (
	errorsBelow1 = "success>=99%"
	fastToo      = "success>=99% latency<=500ms@99%"
)

func trials() []trial {
	return []trial{
		{name: "fails 2 %", tag: "fail2", slo: errorsBelow1},
		{name: "fails 5 %", tag: "fail5", slo: errorsBelow1},
		{name: "fails 10 %", tag: "fail10", slo: errorsBelow1},
		{name: "fails 30 %", tag: "fail30", slo: errorsBelow1},
		{name: "fails beyond 8 requests a second", tag: "overload8", slo: errorsBelow1},
		{name: "answers after 800 ms", tag: "lag800", slo: fastToo},
		{name: "gets 2 ms slower with each request", tag: "leak2", slo: fastToo},
		{name: "good", tag: "good", slo: fastToo, good: true},
		{name: "good, fails 0.2 %", tag: "rare2", slo: errorsBelow1, good: true},
		{name: "fails 5 %, as does what it replaces", tag: "fail5", slo: errorsBelow1, good: true, before: "fail5"},
	}
}

// asked are the trials that the flags ask for.
func asked() []trial {
	images := regexp.MustCompile(*measuredImages)
	return slices.DeleteFunc(trials(), func(t trial) bool { return !images.MatchString(t.name) })
}

// TestMeasuredGates promotes images that are live and healthy, and bad or good,
// with nothing but a load to tell. Users ask the Service 20 times a second.
//
// How often each is promoted is said by flags; without them once, and no number
// is asserted but that what fails all or much is caught and what is good is not.
func TestMeasuredGates(t *testing.T) {
	var mu sync.Mutex
	all := map[string][]ending{}
	t.Run("sites", func(t *testing.T) {
		for n := range *measuredSites {
			t.Run(fmt.Sprint("site", n), func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				s.replace("v1.0.0-first")
				for round := range *measuredRounds {
					for _, trial := range asked() {
						e := s.try(trial, round)
						mu.Lock()
						all[trial.name] = append(all[trial.name], e)
						mu.Unlock()
					}
				}
			})
		}
	})
	report(t, "measured", endings(all))
}

// An ending is how one promotion of a trial ended.
type ending struct {
	code   int
	after  time.Duration
	failed int // requests of users
}

// try promotes an image, and puts the Service back where that succeeded.
func (s *site) try(trial trial, round int) ending {
	s.Helper()
	if trial.before != "" {
		s.replace(fmt.Sprintf("v1.%d.0-%s", round, trial.before))
		defer s.replace(fmt.Sprintf("v1.%d.1", round))
	}
	users := s.listen(s.host(), 50*time.Millisecond)
	began := time.Now()
	r := s.promote(fmt.Sprintf("v2.%d.0-%s", round, trial.tag), "steps=10@30s,50@30s,100", "load=/ 10/s", "slo="+trial.slo, "wait-for-data="+*measuredWait, "timeout=25m")
	e := ending{code: r.Code, after: time.Since(began)}
	for _, a := range users.end() {
		if a.Status != 200 {
			e.failed++
		}
	}
	if trial.before == "" && trial.good != (r.Code == 0) {
		s.Logf("%s, round %d: exit code %d\n%s", trial.name, round, r.Code, r.log)
	}
	if certain := strings.Contains("fail10 fail30 overload8 lag800", trial.tag); certain && r.Code != 8 || trial.good && r.Code == 8 {
		s.Errorf("%s: exit code %d", trial.name, r.Code)
	}
	if r.Code != 8 {
		s.begin("rollback", "steps=", "probe=", "probe-connect=").wait().exits(0)
	}
	return e
}

// replace promotes an image whatever it is like.
func (s *site) replace(tag string) {
	s.Helper()
	s.promote(tag, "steps=100", "probe=", "probe-connect=").exits(0)
}

// endings is the table of all trials.
func endings(all map[string][]ending) string {
	var text strings.Builder
	text.WriteString("| The image | Runs | Promoted | Caught | Held | Seconds until the end: median, p95, max | Users' failed requests: median, max |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, trial := range trials() {
		count := map[int]int{}
		var took []time.Duration
		var failed []int
		for _, e := range all[trial.name] {
			count[e.code]++
			took, failed = append(took, e.after), append(failed, e.failed)
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(failed)
		fmt.Fprintf(&text, "| %s | %d | %d | %d | %d | %s | %d, %d |\n", trial.name, len(took), count[0], count[8], count[9], spread(took), failed[len(failed)/2], failed[len(failed)-1])
	}
	return text.String()
}
