package metrics

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// scripted answers what its first matching row says, and notes what it was asked.
type scripted struct {
	rows  map[string][]prometheus.Sample // by what the query contains
	err   error
	warns []string
	down  []prometheus.Sample // how many targets are
	asked []string
}

func (s *scripted) Query(_ context.Context, query string, at time.Time) (prometheus.Answer, error) {
	if query == "time()" && at.IsZero() {
		return prometheus.Answer{Scalar: true, Samples: []prometheus.Sample{{Value: 1000}}}, nil
	}
	switch {
	case strings.HasPrefix(query, "count((max by (instance) (up) == 0)"):
		return prometheus.Answer{Samples: s.down}, nil
	case strings.HasPrefix(query, "time() - "):
		return prometheus.Answer{Samples: []prometheus.Sample{{Value: 1}}}, nil
	}
	s.asked = append(s.asked, at.UTC().Format("04:05.000 ")+query)
	for part, samples := range s.rows {
		if strings.Contains(query, part) {
			return prometheus.Answer{Samples: samples, Warnings: s.warns}, s.err
		}
	}
	return prometheus.Answer{}, s.err
}

// sample has labels as name, value, name, value.
func sample(value float64, labels ...string) prometheus.Sample {
	s := prometheus.Sample{Labels: map[string]string{}, Value: value}
	for i := 0; i < len(labels); i += 2 {
		s.Labels[labels[i]] = labels[i+1]
	}
	return s
}

func envoy(revision, code string, value float64) prometheus.Sample {
	return sample(value, "envoy_cluster_name", "production/"+revision, "envoy_response_code", code)
}

func envoyBucket(revision, le string, value float64) prometheus.Sample {
	return sample(value, "envoy_cluster_name", "production/"+revision, "le", le)
}

const (
	upstream = "envoy_cluster_upstream_rq{"
	timed    = "envoy_cluster_upstream_rq_time_bucket{"
)

var (
	shop     = Revisions{Namespace: "production", Candidate: "shop-new", Old: "shop-old"}
	errors99 = slo.Objective{Success: 99, Requests: 50, From: slo.Kourier}
	slow99   = slo.Objective{Latency: 300 * time.Millisecond, Fast: 99, Requests: 50, From: slo.Kourier}
)

func counter(t *testing.T, asker Asker, objective slo.Objective, revisions Revisions) *Counter {
	t.Helper()
	c, err := New(asker, objective, revisions)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
