//go:build cluster

package scenario

import (
	"fmt"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// prometheusURL is the control plane's, or the end of the scenario.
func prometheusURL(t *testing.T) string {
	t.Helper()
	url, err := world.Prometheus()
	if err != nil {
		t.Skip(err) // of -use, without one
	}
	return url
}

// TestPrometheusCountsExactly: what a real Prometheus has scraped of the data path
// is, request by request, what its users were answered.
func TestPrometheusCountsExactly(t *testing.T) {
	t.Parallel()
	client, err := prometheus.New(prometheus.Config{Address: prometheusURL(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	s.replace("v1.0.0-fail30")
	live := metrics.Revisions{Namespace: s.Namespace, Candidate: s.live().Status.LatestReadyRevisionName}
	counter, err := metrics.New(client, slo.Objective{Success: 99, Latency: time.Second, Fast: 99, From: slo.Kourier}, live)
	s.must(err)
	for range 2 { // the second time, what was there before is subtracted
		before, _ := counter.Counts(t.Context())
		want := before.Candidate
		for range 40 {
			want.Requests++
			if s.ask(s.host()).Status != 200 {
				want.Failed++
			}
		}
		s.eventually(fmt.Sprintf("Prometheus has the counts %+v", want), func() bool {
			seen, err := counter.Counts(t.Context())
			return err == nil && seen.Candidate == want
		})
	}
}

// TestMeasuredByPrometheus: a candidate that is healthy and fails three of ten of
// its users' requests is rolled back by what a real Prometheus has of the gateway,
// and a good one is promoted.
func TestMeasuredByPrometheus(t *testing.T) {
	t.Parallel()
	url := prometheusURL(t)
	s := newSite(t)
	s.replace("v1.0.0")
	users := s.listen(s.host(), 20*time.Millisecond)
	inputs := []string{"steps=20@1m,50@20s,100", "probe=", "probe-connect=", "slo=success>=99% from=kourier", "prometheus=" + url}
	s.promote("v2.0.0-fail30", inputs...).exits(8).says("slo: failed", "requests failed", "of the old revision's")
	s.promote("v3.0.0", inputs...).exits(0).says("slo: passed")
	users.end()
}
