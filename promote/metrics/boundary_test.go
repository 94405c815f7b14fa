package metrics

import (
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// TestNearest: what is scraped says which boundaries there are, and without it
// only Envoy's are known.
func TestNearest(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		from    slo.Source
		limit   time.Duration
		buckets []string // none: nothing is scraped
		want    Boundaries
		known   bool
	}{
		"between":                  {slo.Kourier, 300 * ms, nil, Boundaries{250 * ms, 500 * ms}, true},
		"on one":                   {slo.Kourier, 500 * ms, nil, Boundaries{500 * ms, time.Second}, true},
		"below all":                {slo.Kourier, 200 * time.Microsecond, nil, Boundaries{0, 500 * time.Microsecond}, true},
		"above all":                {slo.Kourier, 2 * time.Hour, nil, Boundaries{time.Hour, 0}, true},
		"of a version not known":   {slo.Knative, 300 * ms, nil, Boundaries{}, false},
		"of a gateway not known":   {slo.Istio, 300 * ms, nil, Boundaries{}, false},
		"without a latency":        {slo.Kourier, 0, nil, Boundaries{}, false},
		"scraped, with other ones": {slo.Kourier, 300 * ms, []string{"200", "400", "+Inf"}, Boundaries{200 * ms, 400 * ms}, true},
		"scraped, below all":       {slo.Kourier, 100 * ms, []string{"200", "400", "+Inf"}, Boundaries{0, 200 * ms}, true},
	} {
		var buckets []prometheus.Sample
		for _, le := range test.buckets {
			buckets = append(buckets, envoyBucket("shop-new", le, 10))
		}
		asker := &scripted{rows: map[string][]prometheus.Sample{timed: buckets}}
		if test.buckets != nil {
			asker.rows[upstream] = []prometheus.Sample{envoy("shop-new", "200", 10)}
		}
		objective := slo.Objective{Latency: test.limit, Fast: 99, From: test.from}
		c := counter(t, asker, objective, shop)
		_, _ = c.Counts(t.Context()) // which fails where the limit is below all
		got, known := c.Nearest()
		if known != (test.buckets != nil) {
			t.Errorf("%s: it was read: %v", name, known)
		}
		if !known {
			got, known = Usual(objective)
		}
		if got != test.want || known != test.known {
			t.Errorf("%s: got %v %v, expected %v %v", name, got, known, test.want, test.known)
		}
	}
}
