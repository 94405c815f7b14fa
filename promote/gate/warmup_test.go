package gate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/requests"
)

// pods is a cluster whose revision a has as many pods as old, and b as many as
// the requests in flight ask for.
type pods struct {
	old      int32
	limit    int64 // containerConcurrency of b
	inFlight *atomic.Int32
	had      atomic.Int32
}

func (p *pods) revision(_ context.Context, _, name string) (*servingv1.Revision, error) {
	r := &servingv1.Revision{}
	r.Name, r.Spec.ContainerConcurrency = name, &p.limit
	r.Status.ActualReplicas = &p.old
	if name == "b" {
		p.had.Store(max(p.had.Load(), 1+(p.inFlight.Load()-1)/int32(requestsAPod(r))))
		has := p.had.Load()
		r.Status.ActualReplicas = &has
	}
	return r, nil
}

// warming is the gate warm-up before 50 % of a Service whose revision a has all
// traffic, and what answers it.
func warming(t *testing.T, revision func(context.Context, string, string) (*servingv1.Revision, error), answer http.HandlerFunc) (Gate, Ask) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c := Settings{WarmUp: "/warm", Route: requests.Route{Connect: server.Listener.Addr().String()}}
	all := int64(100)
	return c.warmUpGate(Step{Next: 50}), Ask{
		Tag: "candidate", To: "b", Step: Step{Next: 50}, Revision: revision, Debug: quiet,
		Intent:   argo.Intent{Traffic: []servingv1.TrafficTarget{{RevisionName: "a", Percent: &all}, {RevisionName: "b"}}},
		Observed: argo.Observed{Service: service(t)},
	}
}

func TestWarmUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		old   int32
		limit int64
		want  string
	}{
		"one is enough":            {1, 0, "the candidate answers, with 1 pod; 50 % of the traffic needs 1"},
		"requests bring up more":   {5, 10, "the candidate answers, with 3 pods; 50 % of the traffic needs 3"},
		"requests cannot":          {5, 0, "the candidate answers, with 1 pod; 50 % of the traffic needs about 3, which Knative makes when the traffic comes"},
		"the old one is at zero":   {0, 0, "the candidate answers, with 1 pod"},
		"as many requests as pods": {6, 1, "the candidate answers, with 3 pods; 50 % of the traffic needs 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var inFlight atomic.Int32
			cold := atomic.Int32{}
			gate, at := warming(t, (&pods{old: test.old, limit: test.limit, inFlight: &inFlight}).revision, func(w http.ResponseWriter, r *http.Request) {
				if cold.Add(1) <= 2 { // the ingress, before there is a pod
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				inFlight.Add(1)
				defer inFlight.Add(-1)
				select {
				case <-r.Context().Done():
				case <-time.After(3 * time.Second):
				}
			})
			if reason, err := gate.Check(t.Context(), at).said(); reason != test.want || err != nil {
				t.Errorf("%s, error %v\nwant %s", reason, err, test.want)
			}
		})
	}
}

func TestWarmUpKnowsNothing(t *testing.T) {
	t.Parallel()
	gate, at := warming(t, unknown, func(http.ResponseWriter, *http.Request) {})
	if reason, err := gate.Check(t.Context(), at).said(); reason != "the candidate answers; how many pods it has is not known" || err != nil {
		t.Errorf("%s, error %v", reason, err)
	}
}

// TestWarmUpRoute has a gateway that does not know the candidate's route at first,
// and a candidate that has nothing at the path.
func TestWarmUpRoute(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	gate, at := warming(t, unknown, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "envoy")
		if asked.Add(1) > 3 {
			w.Header().Set("X-Envoy-Upstream-Service-Time", "2")
		}
		w.WriteHeader(http.StatusNotFound)
	})
	if reason, err := gate.Check(t.Context(), at).said(); err != nil || asked.Load() != 4 {
		t.Errorf("asked %d times, want 4: %s, error %v", asked.Load(), reason, err)
	}
}

// TestWarmUpWithoutPods has an answer and no pod, as of a cache in front of the
// candidate.
func TestWarmUpWithoutPods(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		w := warmUp{silentWay(http.StatusOK, &asked).Open(), "http://candidate.example.test/warm?key=secret"}
		began := time.Now()
		later := func(pods int, after time.Duration) func(context.Context) replicas {
			return func(context.Context) replicas {
				r := replicas{known: true, needs: 3, next: 50, atOnce: 100}
				if time.Since(began) >= after {
					r.has = pods
				}
				return r
			}
		}
		reason, err := w.pods(t.Context(), later(1, 3*time.Second))
		if want := "the candidate answers, with 1 pod; 50 % of the traffic needs about 3, which Knative makes when the traffic comes"; reason != want || err != nil {
			t.Errorf("%s, error %v\nwant %s", reason, err, want)
		}
		_, err = w.pods(t.Context(), func(context.Context) replicas { return replicas{known: true, next: 50, atOnce: 100} })
		want := "http://candidate.example.test/warm answers, but for 45s Knative has shown no pod of the candidate: something in front of it answers; choose a path that only the Service answers"
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	})
}

// silentWay answers all requests with a status, without a network.
func silentWay(status int, asked *[]time.Time) requests.Route {
	return requests.Route{Wrap: func(http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			*asked = append(*asked, time.Now())
			return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(""))}, nil
		})
	}}
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip answers.
func (r roundTrip) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

func TestWarmUpEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := warmUp{silentWay(http.StatusServiceUnavailable, new([]time.Time)).Open(), "http://candidate.example.test/warm"}
		began := time.Now()
		err := w.first(t.Context())
		want := "http://candidate.example.test/warm: no answer of a pod in 2m0s: answered 503 Service Unavailable instead of a 2xx status"
		if err == nil || err.Error() != want || time.Since(began) != warmUpPatience {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		ended, end := context.WithCancelCause(t.Context())
		end(ErrTimeout)
		if err := w.first(ended); err == nil || err.Error() != "asking http://candidate.example.test/warm: "+ErrTimeout.Error() {
			t.Errorf("a run that ends: %v", err)
		}
	})
}

// unknown is where nobody can tell of a revision.
func unknown(context.Context, string, string) (*servingv1.Revision, error) {
	return nil, errors.New("nobody knows")
}

// TestKeepWarm looks at the time between two steps.
func TestKeepWarm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked []time.Time
		ctx, stop := context.WithCancel(t.Context())
		go Settings{WarmUp: "/warm", Route: silentWay(http.StatusOK, &asked)}.KeepWarm(ctx, "http://candidate.example.test")
		time.Sleep(61 * time.Second)
		stop()
		time.Sleep(time.Minute)
		if len(asked) != 6 {
			t.Errorf("asked %d times in 61 seconds and none after, want 6: %v", len(asked), asked)
		}
	})
}
