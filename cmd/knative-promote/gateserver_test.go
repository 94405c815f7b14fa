package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/httpx"
)

// A gateServer is what the gates of a run ask: a Prometheus, and the ingress
// of the world behind it. The query of a request's path says who asks.
type gateServer struct {
	world   *world
	metrics gatewayMetrics
	ingress http.Handler
	silent  string          // who gets no answer
	asked   map[string]bool // points of the run
}

// gatesTemplate has a metric of each provider, which ask the gateServer.
const gatesTemplate = `apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: gates}
spec:
  args: [{name: gates}]
  metrics:
    - name: web
      successCondition: result.revision != ""
      provider:
        web:
          url: "http://{{args.gates}}/healthz?web"
          headers: [{key: Host, value: product-import.production.example.test}]
    - name: up
      successCondition: result[0] == 1
      provider: {prometheus: {address: "http://{{args.gates}}", query: up}}
`

// worldWithGates is a world with a gateServer, from which one of those who ask
// gets no answer.
func worldWithGates(t *testing.T, silent string) *gateServer {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "infra"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "infra", "gates.yaml"), []byte(gatesTemplate), 0o600); err != nil {
		t.Fatal(err)
	}
	w := worldIn(t, dir)
	g := &gateServer{
		world: w, silent: silent, asked: map[string]bool{}, metrics: gatewayMetrics{candidate: users{rate: 200}, old: users{rate: 400}},
		ingress: &httputil.ReverseProxy{
			Transport: httpx.Default(),
			Rewrite: func(r *httputil.ProxyRequest) {
				r.SetURL(&url.URL{Scheme: "http", Host: w.argo.Ingress()})
				r.Out.Host = r.In.Host
			},
			ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }, // who asked has gone
		},
	}
	server := httptest.NewServer(w.recorded("prometheus", g))
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	w.gates = strings.TrimPrefix(server.URL, "http://")
	w.vars = append(w.vars, "INPUT_PROMETHEUS-HEADERS=Authorization: Bearer "+prometheusToken)
	return g
}

// ServeHTTP notes a point of the run where somebody asks for the first time
// since a push.
func (g *gateServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	who := asks(r)
	g.note(who)
	switch {
	case who == g.silent:
		silent(out, r, nil)
	case who == "up":
		answerQuery(out, "vector", `[{"metric":{},"value":[1,"1"]}]`)
	case strings.HasPrefix(r.URL.Path, "/api/"):
		g.metrics.ServeHTTP(out, r)
	default:
		g.ingress.ServeHTTP(out, r)
	}
}

// note notes who asks. What keeps a candidate warm comes when it likes.
func (g *gateServer) note(who string) {
	g.world.mu.Lock()
	defer g.world.mu.Unlock()
	point := fmt.Sprintf("ask %s after push %d", who, g.world.pushes)
	if !g.asked[point] && (who != "warm-up" || g.world.pushes == 1) {
		g.asked[point] = true
		g.world.reached(point)
	}
}

// hasAsked tells whether somebody has asked after the first push.
func (g *gateServer) hasAsked(who string) bool {
	g.world.mu.Lock()
	defer g.world.mu.Unlock()
	return g.asked["ask "+who+" after push 1"]
}

// asks says who asks: the gate, or the query of Prometheus.
func asks(r *http.Request) string {
	query := r.FormValue("query")
	switch {
	case !strings.HasPrefix(r.URL.Path, "/api/"):
		return r.URL.RawQuery
	case query == "up", query == "time()":
		return strings.TrimSuffix(query, "()")
	}
	return "kourier"
}

// askingGates are the inputs of all gates but the one of measured requests.
func askingGates() []string {
	return []string{
		"--probe", "/healthz?probe", "--warm-up", "/healthz?warm-up", "--compare", "/healthz?compare", "--load", "/healthz?load 50/s",
		"--slo", "success>=99% requests>=5", "--probe-connect", "GATES", "--analysis", "gates.yaml", "--analysis-args", "gates=GATES",
	}
}

// measuredGates are the inputs by which a Prometheus counts the requests.
func measuredGates() []string {
	return []string{"--slo", "success>=99% from=kourier", "--prometheus", "http://GATES"}
}
