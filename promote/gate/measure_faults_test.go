package gate

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// measureFor judges a step with a bake by what count says after a time.
func measureFor(t *testing.T, bake time.Duration, count func(passed time.Duration) (counts, error)) (took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := measurement{
			objective: slo.Default(), bake: bake, wait: 5 * time.Minute, say: func(string, ...any) {},
			count: func(context.Context) (counts, error) { return count(time.Since(began)) },
		}
		_, err = m.judge(t.Context(), "10 %")
		took = time.Since(began)
	})
	return took, err
}

// TestHangingRequestsCount has a candidate that gives no answer to a third of its
// requests: they fail only when their time is over, later than the others succeed.
func TestHangingRequestsCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := measurement{
			objective: slo.Default(), wait: 5 * time.Minute, say: func(string, ...any) {},
			count: func(context.Context) (counts, error) {
				sent := func(d time.Duration) int { return int(10 * max(0, d).Seconds()) }
				passed := time.Since(began)
				hung := sent(passed-requests.Limit) * 3 / 10
				oldest := time.Now().Add(-min(passed, requests.Limit))
				return counts{candidate: slo.Counts{Requests: sent(passed)*7/10 + hung, Failed: hung}, open: oldest}, nil
			},
		}
		if reason, err := m.judge(t.Context(), "candidate"); err == nil || inconclusive(err) || time.Since(began) > 20*time.Second {
			t.Errorf("after %s: %s, error %v; want a failure", time.Since(began), reason, err)
		}
	})
}

// TestImpossibleCounts has counters that go back for a moment at the end of a
// period. What comes after that is judged all the same.
func TestImpossibleCounts(t *testing.T) {
	t.Parallel()
	took, err := measureFor(t, time.Hour, func(passed time.Duration) (counts, error) {
		c := counts{candidate: slo.Counts{Requests: int(passed.Seconds())}}
		switch {
		case passed == time.Minute:
			c.candidate.Requests = -5
		case passed > time.Minute:
			c.candidate.Failed = int(passed.Seconds()) - 60
		}
		return c, nil
	})
	if err == nil || inconclusive(err) || !strings.Contains(err.Error(), "requests failed") || took > 2*time.Minute {
		t.Errorf("after %s: %v; want a failure", took, err)
	}
}

// TestLastLookFails has too few requests, and nobody who answers the last look.
func TestLastLookFails(t *testing.T) {
	t.Parallel()
	for away, unclear := range map[time.Duration]bool{2 * time.Second: true, 2 * time.Minute: false} {
		_, err := measureFor(t, time.Minute, func(passed time.Duration) (counts, error) {
			if passed > 6*time.Minute-away {
				return counts{}, errors.New("502 Bad Gateway")
			}
			return counts{candidate: slo.Counts{Requests: 5}}, nil
		})
		if err == nil || inconclusive(err) != unclear {
			t.Errorf("nobody to ask for the last %s: %v; want inconclusive: %t", away, err, unclear)
		}
	}
}

// TestStaleCounts has counters that nobody reads any more from some time on: as many good requests as there are do not pass, and
// what has failed fails.
func TestStaleCounts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		failed int
		until  time.Duration // when they are read again
		took   time.Duration // at the most
		want   string
	}{
		"good ones":                {0, time.Hour, 7 * time.Minute, "inconclusive: after 6m0s: 0 of 200 requests failed, the limit is 1 %, but not scraped"},
		"good ones, and read then": {0, 3 * time.Minute, 4 * time.Minute, ""},
		"bad ones":                 {100, time.Hour, time.Minute, "requests failed"},
	} {
		took, err := measureFor(t, time.Minute, func(passed time.Duration) (counts, error) {
			c := counts{candidate: slo.Counts{Requests: 200, Failed: test.failed}}
			if passed > 20*time.Second && passed < test.until {
				return c, stale{errors.New("not scraped")}
			}
			return c, nil
		})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) || took > test.took {
			t.Errorf("%s: %v after %s, want %q", name, err, took, test.want)
		}
	}
}

// aSlowPrometheus answers no query in time, from some time on.
type aSlowPrometheus struct{ from time.Time }

func (a aSlowPrometheus) Query(ctx context.Context, query string, _ time.Time) (prometheus.Answer, error) {
	if query == "time()" {
		return prometheus.Answer{Samples: []prometheus.Sample{{Value: 1e9}}}, nil
	}
	if time.Now().Before(a.from) {
		return prometheus.Answer{}, nil
	}
	if err := sleep.For(ctx, prometheus.Limit); err != nil {
		return prometheus.Answer{}, err
	}
	return prometheus.Answer{}, errors.New("no answer")
}

// TestPatienceOfSlowMetrics has a Prometheus that gives its last answers late.
func TestPatienceOfSlowMetrics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := Settings{WaitForData: time.Minute, SLO: slo.Objective{From: slo.Kourier, Success: 99, Requests: 100}}
		step := Step{Percent: 10, Bake: time.Minute}
		ask := Ask{Metrics: aSlowPrometheus{began.Add(119 * time.Second)}, Step: step, Say: quiet, Intent: argo.Intent{Revision: "new"}, Observed: argo.Observed{Service: &servingv1.Service{}}}
		gate := c.sloGate(step)
		if reason, err := gate.Check(t.Context(), ask).said(); err == nil {
			t.Errorf("passed: %s", reason)
		}
		if took := time.Since(began); took > gate.Patience {
			t.Errorf("took %s, and its patience is %s", took, gate.Patience)
		}
	})
}
