package promote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// measureFor judges a step with a bake by what count says after a time.
func measureFor(t *testing.T, bake time.Duration, count func(passed time.Duration) (counts, error)) (took time.Duration, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		m := measurement{
			objective: slo.Default(), bake: bake, wait: 5 * time.Minute, seen: new(measured), say: func(string, ...any) {},
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
			objective: slo.Default(), wait: 5 * time.Minute, seen: new(measured), say: func(string, ...any) {},
			count: func(context.Context) (counts, error) {
				sent := func(d time.Duration) int { return int(10 * max(0, d).Seconds()) }
				passed := time.Since(began)
				hung := sent(passed-requests.Limit) * 3 / 10
				oldest := time.Now().Add(-min(passed, requests.Limit))
				return counts{candidate: slo.Counts{Requests: sent(passed)*7/10 + hung, Failed: hung}, open: oldest}, nil
			},
		}
		if reason, err := m.judge(t.Context(), "candidate"); err == nil || isInconclusive(err) || time.Since(began) > 20*time.Second {
			t.Errorf("after %s: %s, error %v; want a failure", time.Since(began), reason, err)
		}
	})
}

// TestImpossibleCounts has counters that go back for a moment at the end of a
// stretch. What comes after that is judged all the same.
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
	if err == nil || isInconclusive(err) || !strings.Contains(err.Error(), "requests failed") || took > 2*time.Minute {
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
		if err == nil || isInconclusive(err) != unclear {
			t.Errorf("nobody to ask for the last %s: %v; want inconclusive: %t", away, err, unclear)
		}
	}
}
