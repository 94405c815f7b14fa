package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/requests"
)

// service is a live Service whose candidate has a URL of its own.
func service(t *testing.T) *servingv1.Service {
	t.Helper()
	parse := func(text string) *apis.URL {
		u, err := apis.ParseURL(text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	live := &servingv1.Service{}
	live.Name = "product-import"
	live.Status.URL = parse("http://product-import.example.test")
	live.Status.Traffic = []servingv1.TrafficTarget{{RevisionName: "a"}, {RevisionName: "b", Tag: "candidate", URL: parse("http://candidate-product-import.example.test")}}
	return live
}

// prober is the gate of a probe of a data path that gives these answers in turn,
// and what was asked of it.
func prober(t *testing.T, probe Probe, statuses ...int) (Gate, *[]string) {
	t.Helper()
	var asked []string
	way := requests.Route{Connect: answering(t, &asked, statuses...)}
	return Settings{Probe: probe, Route: way}.probeGate(), &asked
}

// answering is host:port of a server that answers with the statuses, the last
// one for ever.
func answering(t *testing.T, asked *[]string, statuses ...int) string {
	t.Helper()
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i := min(int(n.Add(1)), len(statuses)) - 1
		*asked = append(*asked, r.Host+r.URL.String())
		if statuses[i] == http.StatusFound {
			http.Redirect(w, r, "http://elsewhere.example.test/", http.StatusFound)
			return
		}
		w.WriteHeader(statuses[i])
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

func TestProbeAsksTheCandidateByItsOwnURL(t *testing.T) {
	t.Parallel()
	p, asked := prober(t, Probe{Path: "/healthz?deep=1", Count: 3}, 200)
	reason, err := p.Check(t.Context(), Ask{Tag: "candidate", Step: Step{Percent: 10}, Observed: argo.Observed{Service: service(t)}}).said()
	if err != nil {
		t.Fatal(err)
	}
	if want := "3 good answers from http://candidate-product-import.example.test/healthz"; reason != want {
		t.Errorf("reason %q, want %q", reason, want)
	}
	if got, want := fmt.Sprint(*asked), strings.Repeat("candidate-product-import.example.test/healthz?deep=1 ", 3); got != "["+strings.TrimSpace(want)+"]" {
		t.Errorf("asked %s", got)
	}
}

func TestProbeAsksTheServiceAt100(t *testing.T) {
	t.Parallel()
	p, asked := prober(t, Probe{Path: "/", Count: 1}, 204)
	if _, err := p.Check(t.Context(), Ask{Tag: "candidate", Step: Step{Percent: 100}, Observed: argo.Observed{Service: service(t)}}).said(); err != nil {
		t.Fatal(err)
	}
	if (*asked)[0] != "product-import.example.test/" {
		t.Errorf("asked %s", (*asked)[0])
	}
}

func TestProbeWantsConsecutiveAnswers(t *testing.T) {
	t.Parallel()
	p, asked := prober(t, Probe{Path: "/", Count: 2}, 500, 200, 503, 200, 200)
	if _, err := p.Check(t.Context(), Ask{Tag: "candidate", Observed: argo.Observed{Service: service(t)}}).said(); err != nil {
		t.Fatal(err)
	}
	if len(*asked) != 5 {
		t.Errorf("asked %d times, want 5: a bad answer starts the count again", len(*asked))
	}
}

func TestProbeExpectsItsStatus(t *testing.T) {
	t.Parallel()
	p, _ := prober(t, Probe{Path: "/", Expect: 302}, 302)
	if _, err := p.Check(t.Context(), Ask{Tag: "candidate", Observed: argo.Observed{Service: service(t)}}).said(); err != nil {
		t.Fatalf("a redirect is an answer: %v", err)
	}
}

func TestCandidateURL(t *testing.T) {
	t.Parallel()
	if _, err := CandidateURL(nil, "candidate", 10); err == nil || err.Error() != "the live Service was not seen" {
		t.Errorf("no Service: %v", err)
	}
	if _, err := CandidateURL(service(t), "canary", 10); err == nil || err.Error() != `the Service product-import shows no URL for the tag "canary"` {
		t.Errorf("no tag: %v", err)
	}
}

func TestProbeOfARunThatIsCancelled(t *testing.T) {
	t.Parallel()
	p, _ := prober(t, Probe{Path: "/healthz", Count: 2}, http.StatusServiceUnavailable)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupt signal received"))
	_, err := p.Check(ctx, Ask{Tag: "candidate", Observed: argo.Observed{Service: service(t)}, Step: Step{Percent: 10}}).said()
	if want := "asking http://candidate-product-import.example.test/healthz: interrupt signal received"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
