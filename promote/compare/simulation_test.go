package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A world makes the answers of one revision. Noise is what both revisions have.
type world struct {
	fails float64 // share of the answers that are a 500
	takes float64 // the median, in milliseconds
	flips float64 // of five fields, how often each has its other value
	newer bool    // a field has a value of its own
	pods  float64 // share of its pods that are in the other zone; 0 or 1: it has one pod
}

// answer has latencies that vary by a factor of two and more, a clock, and a
// name of its own.
func (w world) answer(random *rand.Rand, clock int) Answer {
	a := Answer{Status: 200, Took: time.Duration(w.takes * math.Exp(random.NormFloat64()*0.5) * float64(time.Millisecond))}
	if random.Float64() < w.fails {
		a.Status = 500
	}
	body := fmt.Sprintf(`{"zone":%t,"newer":%t,"clock":%d,"id":{"%d":1}`, random.Float64() < w.pods, w.newer, clock/50, random.Int())
	for i := range 5 {
		body += fmt.Sprintf(`,"f%d":%t`, i, random.Float64() < w.flips)
	}
	a.Body = []byte(body + "}")
	return a
}

// promotions judges so many candidates, and says which share of them differs.
func promotions(times, count int, line string, old, candidate world) float64 {
	random, differ := rand.New(rand.NewPCG(1, 2)), 0
	questions, err := Parse(line)
	if err != nil {
		panic(err)
	}
	for range times {
		c, clock := New(questions[0]), 0
		if old.pods > 0 {
			candidate.pods = math.Ceil(old.pods - random.Float64()) // one pod, of the same zones
		}
		for range count {
			clock += 3
			c.Add(Round{old.answer(random, clock), candidate.answer(random, clock+1), old.answer(random, clock+2)})
		}
		if Judge([]*Comparison{c}).State == Differ {
			differ++
		}
	}
	return float64(differ) / float64(times)
}

// TestErrorRates has how often candidates are said to differ, from a fixed seed.
func TestErrorRates(t *testing.T) {
	t.Parallel()
	const all, alarm = "/ status,latency<=1.5x,json", .001
	quiet, noisy := world{takes: 20}, world{fails: .1, takes: 20, flips: .3}
	with := func(change func(*world)) world { w := noisy; change(&w); return w }
	for _, row := range []struct {
		name           string
		line           string
		count, times   int
		old, candidate world
		least, most    float64
	}{
		{"as noisy as the old one", all, 20, 400, noisy, noisy, 0, alarm},
		{"as noisy, 1.5 times as slow, which it may be", all, 50, 200, noisy, with(func(w *world) { w.takes *= 1.5 }), 0, alarm},
		{"the zone of 1 of 20 pods", "/ json", 20, 4_000, world{takes: 20, pods: .05}, world{takes: 20}, 0, .012},
		{"the zone of 1 of 10 pods", "/ json", 20, 2_000, world{takes: 20, pods: .1}, world{takes: 20}, 0, .005},
		{"the zone of 1 of 5 pods", "/ json", 20, 1_000, world{takes: 20, pods: .2}, world{takes: 20}, 0, alarm},
		{"the zone of 1 of 3 pods", "/ json", 20, 1_000, world{takes: 20, pods: .33}, world{takes: 20}, 0, alarm},
		{"the zone of half of the pods", "/ json", 20, 1_000, world{takes: 20, pods: .5}, world{takes: 20}, 0, alarm},
		{"a field of its own", all, 20, 100, noisy, with(func(w *world) { w.newer = true }), 1, 1},
		{"3 times as slow", "/ latency<=1.5x", 20, 2000, noisy, with(func(w *world) { w.takes *= 3 }), .65, .85},
		{"5 times as slow", "/ latency<=1.5x", 20, 2000, noisy, with(func(w *world) { w.takes *= 5 }), .99, 1},
		{"1.5 times as slow, which it may be", "/ latency<=1.5x", 20, 2000, noisy, with(func(w *world) { w.takes *= 1.5 }), 0, alarm},
		{"one in ten fails, 20 rounds", "/", 20, 2000, quiet, world{takes: 20, fails: .1}, 0, .05},
		{"half of the requests fail, 20 rounds", "/", 20, 2000, quiet, world{takes: 20, fails: .5}, .9, 1},
		{"nine in ten fail, 20 rounds", "/", 20, 2000, quiet, world{takes: 20, fails: .9}, 1, 1},
		{"one in ten fails, 100 rounds", "/", 100, 2000, quiet, world{takes: 20, fails: .1}, .8, 1},
		{"one in ten fails, 200 rounds", "/", 200, 2000, quiet, world{takes: 20, fails: .1}, .99, 1},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got := promotions(row.times, row.count, row.line, row.old, row.candidate)
			t.Logf("%s: %.2f %% fail", row.name, 100*got)
			if got < row.least || got > row.most {
				t.Errorf("%.2f %% fail, want %g to %g", 100*got, 100*row.least, 100*row.most)
			}
		})
	}
}

// TestFalseAlarms has many fields that differ as noise does, each in as many
// rounds as is worst: all together they fail a good candidate in less than one
// of 1,000 promotions.
func TestFalseAlarms(t *testing.T) {
	t.Parallel()
	const times = 30_000
	random := rand.New(rand.NewPCG(3, 4))
	for _, odd := range [][]int{{7}, {20}, {100}, {8, 8, 8, 8}, {20, 20, 20, 20, 20, 7, 7, 5}, {9, 10, 11, 12, 13, 14, 15, 16, 17}} {
		alarms := 0
		for range times {
			var tests []test
			for _, m := range odd {
				own := 0
				for range m {
					if random.IntN(3) == 0 {
						own++
					}
				}
				tests = append(tests, test{most: m, chance: atLeast(own, m)})
			}
			if slices.ContainsFunc(tests, func(c test) bool { return c.chance*sharedBy(tests) < falseAlarm }) {
				alarms++
			}
		}
		t.Logf("%v: %.3f %%", odd, 100*float64(alarms)/times)
		if most := falseAlarm * times; float64(alarms) > most+3*math.Sqrt(most) { // what chance adds to the promise
			t.Errorf("%v: %d false alarms in %d, want %g at most", odd, alarms, times, most)
		}
	}
}
