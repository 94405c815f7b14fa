package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// prometheusToken is what the Prometheus of a script wants to be asked with.
const prometheusToken = "prometheus-" + secretWord + "-7d4e"

// prometheus RATE/PERCENT RATE/PERCENT [FAULT]: starts a Prometheus that has
// scraped Kourier's gateway. The candidate, and the old revision, have so many
// requests a second of which so many percent fail, from when it is first asked
// for them. At a rate of 0 it has no series. PROMETHEUS is its address, and the
// header that it wants is set.
func startPrometheus(ts *testscript.TestScript, w *world, args []string) {
	if len(args) != 2 && len(args) != 3 {
		ts.Fatalf("usage: prometheus rate/percent rate/percent [fault]")
	}
	p := &gatewayMetrics{candidate: usersOf(ts, args[0]), old: usersOf(ts, args[1])}
	handler := http.Handler(p)
	if len(args) == 3 {
		disturb, known := faults[args[2]]
		if !known {
			ts.Fatalf("there is no fault %q", args[2])
		}
		handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) { disturb(out, r, p) })
	}
	server := httptest.NewServer(w.recorded("prometheus", handler))
	ts.Defer(server.CloseClientConnections)
	ts.Setenv("PROMETHEUS", server.URL)
	ts.Setenv("INPUT_PROMETHEUS-HEADERS", "Authorization: Bearer "+prometheusToken)
}

// users are the requests a second of one revision, and how many of 100 fail.
type users struct{ rate, failing float64 }

func usersOf(ts *testscript.TestScript, text string) users {
	rate, failing, _ := strings.Cut(text, "/")
	var u users
	for number, into := range map[string]*float64{rate: &u.rate, failing: &u.failing} {
		value, err := strconv.ParseFloat(number, 64)
		ts.Check(err)
		*into = value
	}
	return u
}

// gatewayMetrics answers as Prometheus what Kourier's gateway has counted.
type gatewayMetrics struct {
	candidate, old users

	mu    sync.Mutex
	first time.Time
}

var clusters = regexp.MustCompile(`production/\(([^|)]+)\|?([^)]*)\)`)

// ServeHTTP knows the time, the requests of two revisions, and that they are scraped.
func (p *gatewayMetrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.FormValue("query")
	found := clusters.FindStringSubmatch(query)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+prometheusToken:
		http.Error(w, "", http.StatusUnauthorized)
	case query == "time()":
		answerQuery(w, "scalar", fmt.Sprintf(`[1,"%d"]`, time.Now().Unix()))
	case strings.HasPrefix(query, "count((max by (instance) (up) == 0)"):
		answerQuery(w, "vector", "[]")
	case strings.HasPrefix(query, "time() - "):
		answerQuery(w, "vector", `[{"metric":{},"value":[1,"1"]}]`)
	case strings.Contains(query, "envoy_cluster_upstream_rq{") && found != nil:
		answerQuery(w, "vector", "["+strings.Join(append(p.series(found[1], p.candidate), p.series(found[2], p.old)...), ",")+"]")
	default:
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, `{"status":"error","errorType":"bad_data","error":"not known here: %q"}`, query)
	}
}

func answerQuery(w http.ResponseWriter, kind, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":%q,"result":%s}}`, kind, result)
}

// series are those of one revision: 1,000 requests before the first look, and
// what has come since.
func (p *gatewayMetrics) series(revision string, u users) []string {
	if revision == "" || u.rate == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first.IsZero() {
		p.first = time.Now()
	}
	requests := 1000 + u.rate*time.Since(p.first).Seconds()
	var all []string
	for code, count := range map[string]float64{"200": requests * (100 - u.failing) / 100, "503": requests * u.failing / 100} {
		all = append(all, fmt.Sprintf(`{"metric":{"envoy_cluster_name":"production/%s","envoy_response_code":"%s"},"value":[1,"%d"]}`, revision, code, int(count)))
	}
	return all
}
