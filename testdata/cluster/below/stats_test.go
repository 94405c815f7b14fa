package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	netv1alpha1 "knative.dev/networking/pkg/apis/networking/v1alpha1"
)

func TestStats(t *testing.T) {
	t.Parallel()
	s := &stats{}
	for _, took := range []time.Duration{500 * time.Microsecond, 500 * time.Millisecond, 501 * time.Millisecond, 2 * time.Hour} {
		s.count("production/shop", 200, took)
	}
	s.count("production/shop", 503, time.Millisecond)
	got := scrape(s)
	for _, want := range []string{
		`envoy_cluster_upstream_rq{envoy_response_code="200",envoy_cluster_name="production/shop"} 4`,
		`envoy_cluster_upstream_rq{envoy_response_code="503",envoy_cluster_name="production/shop"} 1`,
		`envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="production/shop",le="0.5"} 1`,
		`envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="production/shop",le="250"} 2`,
		`envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="production/shop",le="500"} 3`,
		`envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="production/shop",le="3600000"} 4`,
		`envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name="production/shop",le="+Inf"} 5`,
		`envoy_cluster_upstream_rq_time_sum{envoy_cluster_name="production/shop"} 7.2010025e+06`,
		`envoy_cluster_upstream_rq_time_count{envoy_cluster_name="production/shop"} 5`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, strings.Join(got, "\n"))
		}
	}
}

// TestDataPathCounts: what is counted is what a client was answered, by the revision that the request was for.
func TestDataPathCounts(t *testing.T) {
	t.Parallel()
	r := newRoutes()
	r.program("production/shop", []netv1alpha1.IngressRule{ruleFor("shop.example.test", pathTo(splitTo("bad", 100)))})
	path := &dataPath{routes: r, backends: fixedBackends{"production/bad": {behaviour: behaviour{status: 500}, ready: true}}}
	for _, host := range []string{"shop.example.test", "shop.example.test", "other.example.test"} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Host = host
		path.ServeHTTP(httptest.NewRecorder(), request)
	}
	want := `envoy_cluster_upstream_rq{envoy_response_code="500",envoy_cluster_name="production/bad"} 2`
	if got := scrape(&path.stats); got[1] != want || !strings.HasPrefix(got[2], "# TYPE") {
		t.Errorf("got\n%s\nwant only %s", strings.Join(got, "\n"), want)
	}
}

func scrape(s *stats) []string {
	response := httptest.NewRecorder()
	s.ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/stats/prometheus", nil))
	return strings.Split(response.Body.String(), "\n")
}
