package metrics

import (
	"errors"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// TestUnscraped asks a real Prometheus for counters that it does not scrape any more: what was counted stands, and it says so.
func TestUnscraped(t *testing.T) {
	t.Parallel()
	const gateway, pod = `instance="10.0.0.1:9000"`, `instance="10.0.0.7:9091"`
	envoy := func(to int) func(p *past) {
		return func(p *past) {
			p.scraped(`envoy_cluster_upstream_rq{envoy_cluster_name="production/shop-00002",envoy_response_code="200",`+gateway+`}`, 300, to, 3)
		}
	}
	queue := func(to int) func(p *past) {
		return func(p *past) {
			p.scraped(`revision_request_count{namespace_name="production",revision_name="shop-00002",response_code="200",pod_name="a",`+pod+`}`, 300, to, 3)
		}
	}
	up := func(labels string, from, to int, value float64) func(p *past) {
		return func(p *past) { p.scraped(`up{`+labels+`}`, from, to, value) }
	}
	for name, test := range map[string]struct {
		source slo.Source
		past   []func(p *past)
		want   string // the error; empty: it is scraped
	}{
		"a gateway that is up":         {slo.Kourier, []func(*past){envoy(0), up(gateway, 300, 0, 1)}, ""},
		"a gateway that is down":       {slo.Kourier, []func(*past){envoy(45), up(gateway, 30, 0, 0)}, "Prometheus cannot scrape 1 of the targets that count (up is 0), and knows nothing of them since"},
		"down for one of two jobs":     {slo.Kourier, []func(*past){envoy(0), up(gateway+`,job="a"`, 300, 0, 1), up(gateway+`,job="b"`, 300, 0, 0)}, ""},
		"another one is down":          {slo.Kourier, []func(*past){envoy(0), up(`instance="10.0.0.2:9000"`, 300, 0, 0)}, ""},
		"a gateway that nobody tells":  {slo.Kourier, []func(*past){envoy(150)}, "the newest sample of the gateway is 2m30s old: where it is scraped less often than each 1m0s, say so with scrape in slo"},
		"a pod that is down":           {slo.Knative, []func(*past){queue(45), up(pod, 30, 0, 0)}, "Prometheus cannot scrape 1 of the targets that count (up is 0), and knows nothing of them since"},
		"a pod that is gone":           {slo.Knative, []func(*past){queue(150)}, ""},
		"a pod that was down long ago": {slo.Knative, []func(*past){queue(200), up(pod, 190, 0, 0)}, ""},
		"a gateway that is gone whole": {slo.Kourier, []func(*past){func(p *past) {
			p.scraped(`envoy_cluster_upstream_rq{envoy_cluster_name="production/shop-00002",envoy_response_code="200",`+gateway+`}`, 1200, 600, 3)
		}}, "Prometheus has had counters of the gateway, and scrapes none of them any more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &past{end: end}
			for _, add := range test.past {
				add(p)
			}
			c := counter(t, p.open(t), slo.Objective{Success: 99, From: test.source}, Revisions{Namespace: "production", Candidate: "shop-00002"})
			got, err := c.totals(t.Context(), p.end, time.Hour)
			unscraped, is := errors.AsType[*UnscrapedError](err)
			if is != (test.want != "") || is && unscraped.Error() != test.want || !is && err != nil || got.Candidate.Requests != 3 {
				t.Errorf("got %+v, %v, want 3 requests, %q", got.Candidate, err, test.want)
			}
		})
	}
}
