package gate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/requests"
)

// comparesAt asks the gate at 0 % by a data path, and gives the hosts in the
// order in which they were asked.
func comparesAt(ctx context.Context, t *testing.T, input string, way requests.Route) (string, error) {
	t.Helper()
	questions, err := compare.Parse(input)
	if err != nil {
		t.Fatal(err)
	}
	gate := Settings{Route: way, Compare: questions}.compareGate(Step{})
	return gate.Check(ctx, Ask{Tag: "candidate", Step: Step{Name: "candidate"}, Observed: argo.Observed{Service: service(t)}}).said()
}

// both is a data path with a handler of each revision, and what was asked of it.
func both(t *testing.T, old, candidate http.HandlerFunc) (requests.Route, *[]string) {
	t.Helper()
	var mu sync.Mutex // a connection that is cut may not have ended yet
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.Host+r.URL.String())
		mu.Unlock()
		if strings.HasPrefix(r.Host, "candidate-") {
			candidate(w, r)
			return
		}
		old(w, r)
	}))
	t.Cleanup(server.Close)
	return requests.Route{Connect: server.Listener.Addr().String()}, &asked
}

func says200(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }
}

func TestCompareGate(t *testing.T) {
	t.Parallel()
	var clock atomic.Int64
	withClock := func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `{"at":%d,"price":1}`, clock.Add(1)) }
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	for name, test := range map[string]struct {
		input          string
		old, candidate http.HandlerFunc
		want           string
	}{
		"the same":              {"/a json", withClock, withClock, "<nil> /a: 60 requests (200 OK), nothing differs beyond what two answers of the old revision differ in, which is at"},
		"another status":        {"/a?key=secret", says200(""), http.NotFound, "/a?…: of 20 rounds the status differs in 20, 404 Not Found instead of 200 OK: the chance that this is chance is less than 1 in a million"},
		"a cut connection":      {"/a", says200(""), abort, "/a: of 20 rounds the status differs in 20, no whole answer instead of 200 OK: the chance that this is chance is less than 1 in a million"},
		"both cut it":           {"/a", abort, abort, "inconclusive: /a: the old revision failed all 40 requests and the candidate 20 of 20, so there is nothing to compare with"},
		"a way to https":        {"/a", toHTTPS, toHTTPS, "inconclusive: /a: no answer of the old revision is a 2xx, so nobody can tell whether a revision or what is in front of it has answered (301 Moved Permanently): compare what it answers with one"},
		"the gateway's for one": {"/a", says200(""), toHTTPS, "/a: of 20 rounds the status differs in 20, 301 Moved Permanently instead of 200 OK: the chance that this is chance is less than 1 in a million"},
		"the second path":       {"/a\n/b json", says200(`{"price":1}`), func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, `{"price":%q}`, r.URL.Path) }, "/b: of 20 rounds 1 field differs: price in 20 (a string instead of a number): the chance that this is chance is less than 1 in a million"},
		"nothing to see":        {"/a json", says200("hello"), says200("hello"), "inconclusive: /a: the old revision does not answer with JSON of at most a mebibyte, so there are no fields to compare"},
		"the first is cold":     {"/a count=10", says200(""), coldOnce(), "<nil> /a: 30 requests (200 OK), nothing differs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way, _ := both(t, test.old, test.candidate)
			reason, err := comparesAt(t.Context(), t, test.input, way)
			got := reason
			if err != nil {
				got = err.Error()
			} else {
				got = "<nil> " + got
			}
			if got != test.want || inconclusive(err) != strings.HasPrefix(test.want, "inconclusive: ") {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// toHTTPS is what a gateway answers that sends everybody on to https.
func toHTTPS(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Server", "envoy")
	w.Header().Set("Location", "https://"+r.Host+r.URL.Path)
	w.WriteHeader(http.StatusMovedPermanently)
}

// coldOnce fails the first request alone.
func coldOnce() http.HandlerFunc {
	var asked atomic.Int64
	return func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}
}

// TestCompareOrder has the candidate asked between two requests to the old
// revision, at their own hosts.
func TestCompareOrder(t *testing.T) {
	t.Parallel()
	way, asked := both(t, says200(""), says200(""))
	if _, err := comparesAt(t.Context(), t, "/a?x=1 count=10", way); err != nil {
		t.Fatal(err)
	}
	const old, candidate = "product-import.example.test/a?x=1", "candidate-product-import.example.test/a?x=1"
	if got, want := strings.Join(*asked, " "), strings.Repeat(" "+old+" "+candidate+" "+old, 11)[1:]; got != want {
		t.Errorf("asked %s\nwant %s", got, want)
	}
}

// TestCompareNeedsBoth has revisions that cannot be asked, and a run that ends.
func TestCompareNeedsBoth(t *testing.T) {
	t.Parallel()
	_, err := comparesAt(t.Context(), t, "/a count=10", requests.Route{Connect: "127.0.0.1:1"})
	if want := "could not be measured: no request could be sent to both revisions: "; err == nil || !strings.HasPrefix(err.Error(), want) || inconclusive(err) {
		t.Errorf("error %v, want %s", err, want)
	}
	ended, end := context.WithCancelCause(t.Context())
	way, _ := both(t, says200(""), func(_ http.ResponseWriter, r *http.Request) { end(ErrTimeout); <-r.Context().Done() })
	if _, err := comparesAt(ended, t, "/a", way); !errors.Is(err, ErrTimeout) {
		t.Errorf("error %v, want %v", err, ErrTimeout)
	}
	live := service(t)
	live.Status.URL = nil
	gate := Settings{Compare: []compare.Question{{Path: "/"}}}.compareGate(Step{})
	if _, err := gate.Check(t.Context(), Ask{Tag: "candidate", Observed: argo.Observed{Service: live}}).said(); err == nil || err.Error() != "the live Service has no URL to ask the old revision at" {
		t.Errorf("error %v", err)
	}
	if gate := (Settings{Compare: []compare.Question{{Path: "/"}}}).compareGate(Step{Percent: 10}); gate.Check != nil {
		t.Error("asked where the Service's URL is shared")
	}
}

// TestCompareInTime has an old revision whose requests end with the time there
// is: the rounds that there are decide, and too few are inconclusive.
func TestCompareInTime(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	way, _ := both(t, func(_ http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 8 {
			<-r.Context().Done()
		}
	}, says200(""))
	client := way.Open()
	defer client.Close()
	c := comparing{client, "http://old.example.test", "http://candidate-x.example.test", 2 * time.Second}
	_, err := c.judge(t.Context(), []compare.Question{{Path: "/", Status: true, Count: 20}})
	want := "inconclusive: /: 3 of 20 rounds are whole, which is too few to say; the last request that could not be sent: not all were answered within 2s"
	if err == nil || err.Error() != want {
		t.Errorf("error %v\nwant %s", err, want)
	}
}
