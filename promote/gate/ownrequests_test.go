package gate

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// sendTo sends so many requests to the candidate, and to the Service where the old
// revision has most of its traffic, and counts the answers.
func sendTo(t *testing.T, way requests.Route, percent, times int, objective slo.Objective) (counts, error) {
	t.Helper()
	c := Settings{Route: way}
	at := Ask{Tag: "candidate", Step: Step{Percent: percent}, Observed: argo.Observed{Service: service(t)}}
	own, err := c.ownRequests(at, requests.Load{Path: "/healthz", Rate: 1}, objective)
	if err != nil {
		t.Fatal(err)
	}
	client := way.Open()
	defer client.Close()
	for range times {
		for _, to := range []*answered{&own.candidate, &own.old} {
			if to.url != "" {
				to.ask(t.Context(), client, "/healthz")
			}
		}
	}
	return own.counts(t.Context())
}

// byHost is a data path whose candidate answers every second request with 500,
// and late.
func byHost(t *testing.T) requests.Route {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "candidate-") {
			if asked.Add(1)%2 == 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}))
	t.Cleanup(server.Close)
	return requests.Route{Connect: server.Listener.Addr().String()}
}

func TestOwnRequests(t *testing.T) {
	t.Parallel()
	objective := slo.Objective{Success: 99, Latency: time.Nanosecond, Fast: 99, Requests: 1}
	for name, test := range map[string]struct {
		percent   int
		candidate slo.Counts
		old       *slo.Counts
	}{
		"the old revision beside it":         {0, slo.Counts{Requests: 6, Failed: 3, Slow: 6}, &slo.Counts{Requests: 6, Slow: 6}},
		"the Service's URL is mostly its":    {20, slo.Counts{Requests: 6, Failed: 3, Slow: 6}, &slo.Counts{Requests: 6, Slow: 6}},
		"the Service's URL is shared":        {21, slo.Counts{Requests: 6, Failed: 3, Slow: 6}, nil},
		"the Service's URL is the new one's": {100, slo.Counts{Requests: 6, Slow: 6}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := sendTo(t, byHost(t), test.percent, 6, objective)
			if err != nil || got.candidate != test.candidate || (got.old == nil) != (test.old == nil) || got.old != nil && *got.old != *test.old {
				t.Errorf("%+v, old %+v, error %v; want %+v, old %+v", got, got.old, err, test.candidate, test.old)
			}
			if got.shared != (test.old != nil && test.percent > 0) {
				t.Errorf("shared %t at %d %%", got.shared, test.percent)
			}
			if bad := test.candidate.Failed > 0; bad != strings.Contains(got.note, "the last bad one: answered 500 Internal Server Error") {
				t.Errorf("note %q", got.note)
			}
		})
	}
}

func TestOwnRequestsWithoutAWay(t *testing.T) {
	t.Parallel()
	got, err := sendTo(t, requests.Route{Connect: "127.0.0.1:1"}, 0, 2, slo.Default())
	if want := "none of 2 requests could be sent: "; err == nil || !strings.HasPrefix(err.Error(), want) || got.candidate.Requests != 0 {
		t.Errorf("%+v, error %v, want %s", got, err, want)
	}
	if _, err = sendTo(t, byHost(t), 10, 0, slo.Default()); err == nil || err.Error() != "no request to http://candidate-product-import.example.test has been answered yet" {
		t.Errorf("none yet: %v", err)
	}
}

// TestOwnRequestsCutOff has a data path that is away after some requests, and back then: what was answered stands meanwhile.
func TestOwnRequestsCutOff(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	there, away := requests.Route{Connect: server.Listener.Addr().String()}.Open(), requests.Route{Connect: "127.0.0.1:1"}.Open()
	defer there.Close()
	defer away.Close()
	began := time.Now()
	own := &ownRequests{began: began, candidate: answered{began: began, url: "http://candidate.example.test"}}
	for i, client := range []*requests.Client{there, there, away, away, away, there} {
		own.candidate.ask(t.Context(), client, "/")
		got, err := own.counts(t.Context())
		_, is := errors.AsType[stale](err)
		if is != (i == 4) || is && !strings.HasPrefix(err.Error(), "none of the last 3 requests could be sent: ") || got.candidate.Requests != min(i+1, 2)+i/5 {
			t.Errorf("after request %d: %+v, %v", i, got.candidate, err)
		}
	}
}

// TestSLOGateAsksWhileTheStepBakes runs the whole gate on a real connection.
func TestSLOGateAsksWhileTheStepBakes(t *testing.T) {
	t.Parallel()
	c := Settings{Route: byHost(t), Load: requests.Load{Path: "/", Rate: 50}, WaitForData: time.Minute}
	gate := c.sloGate(Step{Bake: time.Minute})
	_, err := gate.Check(t.Context(), Ask{Tag: "candidate", Step: Step{Name: "10 %", Percent: 10}, Observed: argo.Observed{Service: service(t)}}).said()
	if err == nil || inconclusive(err) || !strings.Contains(err.Error(), "requests failed (") {
		t.Errorf("error %v, want that half of the requests fail", err)
	}
	ended, end := context.WithCancelCause(t.Context())
	end(ErrTimeout)
	if _, err := gate.Check(ended, Ask{Tag: "candidate", Observed: argo.Observed{Service: service(t)}}).said(); !errors.Is(err, ErrTimeout) || !inconclusive(err) {
		t.Errorf("error %v, want one that is inconclusive, as the run's timeout has cut it off", err)
	}
}

// TestOwnRequestsOfAStall has a candidate that stands still for eight seconds: what was sent in them ends at once, and is bad
// in each of them.
func TestOwnRequestsOfAStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		own := &ownRequests{began: began, candidate: answered{began: began, url: "http://web"}}
		var sent []time.Time
		for range 16 { // two a second
			time.Sleep(500 * time.Millisecond)
			sent = append(sent, own.candidate.begin())
		}
		if known := own.seconds(); len(known) != 0 {
			t.Errorf("while nothing has ended: %+v", known)
		}
		time.Sleep(time.Second)
		for _, at := range sent {
			of := own.candidate.end(at)
			of.counts = of.counts.And(slo.Counts{Requests: 1, Slow: 1})
		}
		bad := 0
		for _, one := range own.seconds() {
			if one.Candidate.Requests > 0 && one.Candidate.Slow == one.Candidate.Requests {
				bad++
			}
		}
		if bad != 9 {
			t.Errorf("%d bad seconds, want those in which something was sent", bad)
		}
	})
}

// TestOwnRequestsAreKnownBySeconds tells the run's own requests from those that a Prometheus has counted.
func TestOwnRequestsAreKnownBySeconds(t *testing.T) {
	t.Parallel()
	got, err := sendTo(t, byHost(t), 10, 3, slo.Default())
	if err != nil || got.seconds == nil {
		t.Errorf("own requests: %v, error %v", got.seconds, err)
	}
	if c, err := countsOf(metrics.Seen{}, nil); c.seconds != nil || err != nil {
		t.Errorf("those of a Prometheus: %v, error %v", c.seconds, err)
	}
}
