package metrics

import (
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// TestCounts: what was there at the first look is not counted, a revision that
// has no series yet is counted from its first request, and every look reads back
// to the same moment.
func TestCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asker := &scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-old", "200", 1000), envoy("shop-old", "503", 10)}}}
		c := counter(t, asker, errors99, shop)
		got, err := c.Counts(t.Context())
		if diff := cmp.Diff(Seen{Old: &slo.Counts{}}, got); err != nil || diff != "" {
			t.Errorf("at first %v (-want +got):\n%s", err, diff)
		}
		time.Sleep(90 * time.Second)
		asker.rows[upstream] = []prometheus.Sample{
			envoy("shop-old", "200", 1090), envoy("shop-old", "503", 11), envoy("shop-new", "500", 6), envoy("shop-new", "404", 3),
		}
		got, err = c.Counts(t.Context())
		want := Seen{Candidate: slo.Counts{Requests: 9, Failed: 6}, Old: &slo.Counts{Requests: 91, Failed: 1}}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("then %v (-want +got):\n%s", err, diff)
		}
		query := func(age string) string {
			return `sum by (envoy_cluster_name, envoy_response_code) (max by (instance, envoy_cluster_name, envoy_response_code) (` +
				`last_over_time(envoy_cluster_upstream_rq{envoy_cluster_name=~"production/(shop-new|shop-old)"}[` + age + `])))`
		}
		if diff := cmp.Diff([]string{"16:40.000 " + query("3600000ms"), "18:10.000 " + query("3690000ms")}, asker.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	})
}

// TestCountsApart: where pods are scraped one after the other, what the counters
// had a while before the first look is subtracted, read back to the same moment.
func TestCountsApart(t *testing.T) {
	t.Parallel()
	for scrape, want := range map[time.Duration]string{0: "15:35.000 x[3535000ms]", 15 * time.Second: "16:20.000 x[3580000ms]"} {
		objective := slo.Objective{Success: 99, From: "x[{{args.age}}] # {{args.revision}}", Scrape: scrape}
		asker := &scripted{rows: map[string][]prometheus.Sample{"x": {sample(3, "code", "500")}}}
		c := counter(t, asker, objective, Revisions{Candidate: "shop-new"})
		if _, err := c.Counts(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"16:40.000 x[3600000ms] # shop-new", want + " # shop-new"}, asker.asked); diff != "" {
			t.Errorf("asked (-want +got):\n%s", diff)
		}
	}
	for source, want := range map[slo.Source]time.Duration{slo.Kourier: 0, slo.Istio: 0, slo.Knative: 65 * time.Second, exampleQuery: 65 * time.Second} {
		if got := Late(slo.Objective{From: source}); got != want {
			t.Errorf("%s is late by %s, want %s", source, got, want)
		}
	}
}

// TestNoSeries: nothing is an error and not zero, and what then comes is counted
// from the first request.
func TestNoSeries(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		source slo.Source
		want   string
	}{
		{slo.Kourier, "counting shop-new and shop-old by envoy_cluster_upstream_rq: no such series in Prometheus"},
		{slo.Istio, "counting shop-new and shop-old by istio_requests_total: no such series in Prometheus"},
		{slo.Knative, "counting shop-new and shop-old by revision_request_count or kn_serving_invocation_duration_seconds or kn_queueproxy_app_duration_seconds: no such series in Prometheus"},
		{exampleQuery, "counting shop-new and shop-old by the query: no such series in Prometheus"},
	} {
		asker := &scripted{}
		c := counter(t, asker, slo.Objective{Success: 99, From: test.source}, shop)
		_, err := c.Counts(t.Context())
		if !errors.Is(err, ErrNoSeries) || err.Error() != test.want {
			t.Errorf("got  %v\nwant %s", err, test.want)
		}
	}
	asker := &scripted{}
	c := counter(t, asker, errors99, shop)
	if _, err := c.Counts(t.Context()); !errors.Is(err, ErrNoSeries) {
		t.Errorf("got %v", err)
	}
	asker.rows = map[string][]prometheus.Sample{upstream: {envoy("shop-new", "500", 4)}}
	got, err := c.Counts(t.Context())
	if diff := cmp.Diff(Seen{Candidate: slo.Counts{Requests: 4, Failed: 4}, Old: &slo.Counts{}}, got); err != nil || diff != "" {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
}

// TestSlow: slow requests are those above the highest boundary within the limit.
func TestSlow(t *testing.T) {
	t.Parallel()
	requests := []prometheus.Sample{envoy("shop-new", "200", 10)}
	whole := []prometheus.Sample{envoyBucket("shop-new", "100", 5), envoyBucket("shop-new", "250.0", 7), envoyBucket("shop-new", "500", 9), envoyBucket("shop-new", "+Inf", 10)}
	for name, test := range map[string]struct {
		limit   time.Duration
		buckets []prometheus.Sample
		slow    int
		within  time.Duration
		want    string
	}{
		"at a boundary":      {500 * time.Millisecond, whole, 1, 500 * time.Millisecond, ""},
		"between boundaries": {300 * time.Millisecond, whole, 3, 250 * time.Millisecond, ""},
		"above all":          {time.Hour, whole, 1, 500 * time.Millisecond, ""},
		"below all":          {50 * time.Millisecond, whole, 0, 0, "a latency of 50ms cannot be measured: the lowest boundary of the buckets is 100ms"},
		"no buckets":         {time.Second, nil, 0, 0, "shop-new has 10 requests and no buckets of their latency"},
		"others' buckets":    {time.Second, []prometheus.Sample{envoyBucket("shop-other", "+Inf", 1)}, 0, 0, "shop-new has 10 requests and no buckets of their latency"},
		"no end":             {time.Second, whole[:3], 0, 0, "the buckets are not whole: 9 within 500, 0 in all"},
		"falling":            {time.Second, []prometheus.Sample{envoyBucket("shop-new", "500", 9), envoyBucket("shop-new", "+Inf", 8)}, 0, 0, "the buckets are not whole: 9 within 500, 8 in all"},
		"NaN":                {time.Second, []prometheus.Sample{envoyBucket("shop-new", "500", math.NaN())}, 0, 0, "NaN cannot be a number of requests"},
		"no le":              {time.Second, []prometheus.Sample{envoyBucket("shop-new", "", 1)}, 0, 0, `a bucket has le="", expected a number`},
		"one ahead":          {time.Second, []prometheus.Sample{envoyBucket("shop-new", "500", 0), envoyBucket("shop-new", "+Inf", 11)}, 10, 500 * time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objective := slow99
			objective.Latency = test.limit
			asker := &scripted{rows: map[string][]prometheus.Sample{upstream: requests, timed: test.buckets}}
			c := counter(t, asker, objective, Revisions{Namespace: "production", Candidate: "shop-new"})
			c.based, c.base = true, Seen{}
			got, err := c.Counts(t.Context())
			if test.want != "" {
				if want := "counting by envoy_cluster_upstream_rq: " + test.want; err == nil || err.Error() != want {
					t.Errorf("got  %v\nwant %s", err, want)
				}
				return
			}
			want := Seen{Candidate: slo.Counts{Requests: 10, Slow: test.slow}, Within: test.within}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("got %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestUnbelievable: what cannot be counts is an error.
func TestUnbelievable(t *testing.T) {
	t.Parallel()
	down := errors.New("asking Prometheus at http://prometheus: connection refused")
	query := slo.Objective{Success: 99, From: exampleQuery}
	for name, test := range map[string]struct {
		objective slo.Objective
		asker     scripted
		want      string
	}{
		"down":     {errors99, scripted{err: down}, "counting by envoy_cluster_upstream_rq: " + down.Error()},
		"NaN":      {errors99, scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "200", math.NaN())}}}, "counting by envoy_cluster_upstream_rq: NaN cannot be a number of requests"},
		"infinite": {errors99, scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "200", math.Inf(1))}}}, "counting by envoy_cluster_upstream_rq: +Inf cannot be a number of requests"},
		"negative": {errors99, scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "200", -1)}}}, "counting by envoy_cluster_upstream_rq: -1 cannot be a number of requests"},
		"no code":  {errors99, scripted{rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "", 9)}}}, `counting by envoy_cluster_upstream_rq: a series has envoy_response_code="", expected a response code such as 503 or 5xx`},
		"a part": {errors99, scripted{warns: []string{"store gateway:\ntimeout"}, rows: map[string][]prometheus.Sample{upstream: {envoy("shop-new", "200", 9)}}},
			"counting by envoy_cluster_upstream_rq: the answer may not be whole: store gateway: timeout"},
		"query without label": {query, scripted{rows: map[string][]prometheus.Sample{"http_requests": {sample(3)}}}, "counting by the query: a series has 0 labels, expected one, with the response code; such as " + exampleQuery},
		"query with two":      {query, scripted{rows: map[string][]prometheus.Sample{"http_requests": {sample(3, "code", "200", "pod", "a")}}}, "counting by the query: a series has 2 labels, expected one, with the response code; such as " + exampleQuery},
		"query of a share":    {query, scripted{rows: map[string][]prometheus.Sample{"http_requests": {sample(.3, "grpc_code", "Unavailable")}}}, `counting by the query: a series has grpc_code="Unavailable", expected a response code such as 503 or 5xx`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := counter(t, &test.asker, test.objective, shop).Counts(t.Context())
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

// TestOwnQuery: the user's query is asked for each revision.
func TestOwnQuery(t *testing.T) {
	t.Parallel()
	asker := &scripted{rows: map[string][]prometheus.Sample{`"shop-new"`: {sample(5, "code", "2xx"), sample(2, "code", "5xx")}, `"shop-old"`: {sample(90, "code", "200")}}}
	c := counter(t, asker, slo.Objective{Success: 99, From: `sum by (code) (last_over_time(x{ns="{{args.namespace}}",rev="{{ args.revision }}"}[{{args.age}}]))`}, shop)
	c.based, c.base = true, Seen{}
	got, err := c.Counts(t.Context())
	want := Seen{Candidate: slo.Counts{Requests: 7, Failed: 2}, Old: &slo.Counts{Requests: 90}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got %v (-want +got):\n%s", err, diff)
	}
	if len(asker.asked) != 2 || !strings.Contains(asker.asked[0], `x{ns="production",rev="shop-new"}[36000`) {
		t.Errorf("asked %q", asker.asked)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const end = ", such as " + exampleQuery
	for _, test := range []struct {
		objective slo.Objective
		want      string
	}{
		{slow99, ""}, {slo.Objective{Success: 99, From: slo.Istio}, ""}, {slo.Objective{Success: 99, From: exampleQuery}, ""},
		{slo.Objective{Success: 99, From: "sum(errors)"}, "the query does not say of which revision: expected {{args.revision}} in it" + end},
		{slo.Objective{Success: 99, From: "sum(x{r='{{args.revision}}',s='{{args.service}}'})"}, "the query has {{args.service}}: expected {{args.revision}}, {{args.namespace}} or {{args.age}}" + end},
		{slo.Objective{Success: 99, Latency: time.Second, From: exampleQuery}, "a query counts requests and says nothing of their latency: expected from=kourier, istio, knative or load, or an objective without latency"},
	} {
		if err := Check(test.objective); (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.objective, err, test.want)
		}
	}
}

// TestWholeSeconds: a Knative that counts 0.9 s as 0 measures no latency.
func TestWholeSeconds(t *testing.T) {
	t.Parallel()
	const revision = "kn_revision_name"
	objective := slo.Objective{Latency: time.Second, Fast: 99, From: slo.Knative}
	for sum, want := range map[float64]string{
		12.25: "", 12: "counting by kn_serving_invocation_duration_seconds: this version of Knative counts latency in whole seconds: expected 1.19.9, 1.20.2 or 1.21 and newer, or from=kourier or istio",
	} {
		asker := &scripted{rows: map[string][]prometheus.Sample{
			`duration_seconds_count{k8s`: {sample(30, revision, "shop-new", "http_response_status_code", "200")}, `duration_seconds_sum{k8s`: {sample(sum, revision, "shop-new")},
			`duration_seconds_bucket{k8s`: {sample(28, revision, "shop-new", "le", "0.75"), sample(30, revision, "shop-new", "le", "+Inf")},
		}}
		c := counter(t, asker, objective, shop)
		c.based, c.base = true, Seen{}
		got, err := c.Counts(t.Context())
		if want != "" {
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			continue
		}
		if err != nil || got.Candidate != (slo.Counts{Requests: 30, Slow: 2}) || got.Within != 750*time.Millisecond {
			t.Errorf("got %+v, %v", got, err)
		}
	}
}
