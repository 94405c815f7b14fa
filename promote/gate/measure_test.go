package gate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// stream counts requests that come at a rate and of which a share fails, from a
// time on.
type stream struct {
	rate, failing float64 // a second
	from          time.Duration
	old           bool // the old revision has ten times as many, good ones
	err           error
}

func (s stream) since(began time.Time) func(context.Context) (counts, error) {
	return func(context.Context) (counts, error) {
		passed := time.Since(began)
		c := counts{candidate: slo.Counts{Requests: int(s.rate * passed.Seconds())}}
		c.candidate.Failed = int(s.rate * s.failing * max(0, passed-s.from).Seconds())
		if s.old {
			c.old = &slo.Counts{Requests: 10 * c.candidate.Requests}
		}
		return c, s.err
	}
}

func TestMeasurement(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		stream  stream
		bake    time.Duration
		latest  time.Duration
		want    string
		unclear bool
	}{
		"good":               {stream{rate: 10}, 30 * time.Second, 30 * time.Second, "0 of 300 requests failed, the limit is 1 %", false},
		"good without bake":  {stream{rate: 10}, 0, 5 * time.Second, "0 of 50 requests failed, the limit is 1 %", false},
		"bad":                {stream{rate: 10, failing: 0.3}, time.Hour, 7 * time.Second, "the chance that this is chance is at most 1 in", false},
		"worse than the old": {stream{rate: 10, failing: 0.009, old: true}, time.Hour, 5 * time.Minute, "of the old revision's 0 of", false},
		"bad late":           {stream{rate: 10, failing: 0.3, from: 50 * time.Minute}, time.Hour, 50*time.Minute + 25*time.Second, "since step 10 % began", false},
		"too few":            {stream{rate: 0.1}, time.Minute, 6 * time.Minute, "inconclusive: after 6m0s: 36 requests in this step, expected at least 50: too few to say", true},
		"enough later":       {stream{rate: 0.2}, time.Minute, 250 * time.Second, "0 of 50 requests failed", false},
		"not to be counted":  {stream{err: errors.New("connection refused")}, time.Minute, 6 * time.Minute, "could not be measured: connection refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				m := measurement{
					objective: slo.Default(), count: test.stream.since(began), bake: test.bake, wait: 5 * time.Minute,
					say: func(string, ...any) {},
				}
				reason, err := m.judge(t.Context(), "10 %")
				took, said := time.Since(began), fmt.Sprint(reason, err)
				if !strings.Contains(said, test.want) || inconclusive(err) != test.unclear || took > test.latest {
					t.Errorf("after %s: %s\nwant by %s: %s", took, said, test.latest, test.want)
				}
			})
		})
	}
}

// TestMeasurementRemembersTheStepsBefore has three failures a step, of which each
// alone may be chance.
func TestMeasurementRemembersTheStepsBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []slo.Period
		for i, step := range []string{"10 %", "50 %"} {
			m := measurement{
				objective: slo.Objective{Success: 99, Requests: 5, From: slo.Load}, bake: 10 * time.Second, wait: time.Second, seen: seen, say: func(string, ...any) {},
				count: func(context.Context) (counts, error) {
					return counts{candidate: slo.Counts{Requests: 20, Failed: 3}}, nil
				},
			}
			_, err := m.judge(t.Context(), step)
			seen = m.seen
			if last := i == 1; err == nil || inconclusive(err) == last {
				t.Errorf("step %s: %v", step, err)
			}
		}
	})
}

// TestMeasurementOfTroubleOfTwoSeconds has all requests of two seconds fail: where the seconds are known, that is
// too little to say, and else too much.
func TestMeasurementOfTroubleOfTwoSeconds(t *testing.T) {
	t.Parallel()
	for _, known := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			m := measurement{
				objective: slo.Default(), bake: time.Minute, wait: time.Minute, say: func(string, ...any) {},
				count: func(context.Context) (counts, error) {
					var c counts
					for i := range int(time.Since(began).Seconds()) {
						one := second{at: began.Add(time.Duration(i) * time.Second), Second: slo.Second{Candidate: slo.Counts{Requests: 10}}}
						if i == 20 || i == 21 {
							one.Candidate.Failed = 10
						}
						if c.candidate = c.candidate.And(one.Candidate); known {
							c.seconds = append(c.seconds, one)
						}
					}
					return c, nil
				},
			}
			if _, err := m.judge(t.Context(), "10 %"); err == nil || inconclusive(err) != known {
				t.Errorf("known %t: %v", known, err)
			}
		})
	}
}
