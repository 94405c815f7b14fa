package metrics

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// A metric is how a source names its requests. In the queries, {{args.namespace}}
// is the revisions' namespace, {{args.revisions}} a regular expression of their
// names, and {{args.age}} how far the query reads back.
type metric struct {
	name     string        // for people
	series   string        // has a sample of each counter; it ends with how far it reads back
	counts   string        // gives how many requests there were, by revision and response code
	buckets  string        // gives how many were answered within le, by revision and le
	sums     string        // gives how long all took together, where a version may count whole seconds only
	revision string        // label
	code     string        // label
	prefix   string        // of the revision's name in its label
	unit     time.Duration // of le
	stays    string        // selects counters that are there as long as what counts; empty: they go with a pod
	own      bool          // a query of the user, which is asked for each revision
}

// metricsOf are the ways in which a source may name its requests.
func metricsOf(source slo.Source) []metric {
	switch source {
	case slo.Kourier:
		return []metric{kourier()}
	case slo.Istio:
		return []metric{istio()}
	case slo.Knative:
		return knative()
	}
	return []metric{{name: "the query", counts: string(source), own: true}}
}

// kourier are the counters of Kourier's Envoy. Its clusters are the revisions:
// https://github.com/knative-extensions/net-kourier/blob/knative-v1.15.0/pkg/generator/ingress_translator.go
// A gateway that is scraped by two jobs is counted once.
func kourier() metric {
	const requests = `envoy_cluster_upstream_rq{envoy_cluster_name=~"{{args.namespace}}/({{args.revisions}})"}`
	const series = `last_over_time(` + requests + `[{{args.age}}])`
	return metric{
		name: "envoy_cluster_upstream_rq", series: series, stays: requests,
		counts: `sum by (envoy_cluster_name, envoy_response_code) (max by (instance, envoy_cluster_name, envoy_response_code) (` + series + `))`,
		buckets: `sum by (envoy_cluster_name, le) (max by (instance, envoy_cluster_name, le) (` +
			`last_over_time(envoy_cluster_upstream_rq_time_bucket{envoy_cluster_name=~"{{args.namespace}}/({{args.revisions}})"}[{{args.age}}])))`,
		revision: "envoy_cluster_name", code: "envoy_response_code", prefix: "{{args.namespace}}/", unit: time.Millisecond,
	}
}

// istio are the counters of Istio's gateway, which sends to the revision's own
// Kubernetes Service. The pods' sidecars report the same requests as destination.
func istio() metric {
	const of = `{reporter="source",destination_service_namespace="{{args.namespace}}",destination_service_name=~"{{args.revisions}}"}`
	const series = `last_over_time(istio_requests_total` + of + `[{{args.age}}])`
	return metric{
		name: "istio_requests_total", series: series, stays: `istio_requests_total` + of,
		counts:   `sum by (destination_service_name, response_code) (` + series + `)`,
		buckets:  `sum by (destination_service_name, le) (last_over_time(istio_request_duration_milliseconds_bucket` + of + `[{{args.age}}]))`,
		revision: "destination_service_name", code: "response_code", unit: time.Millisecond,
	}
}

// knative are the counters of the revisions' own queue-proxies, which Knative has
// renamed twice, and which have the revision's name in different labels by how
// they come to Prometheus.
func knative() []metric {
	const of = `{namespace_name="{{args.namespace}}",revision_name=~"{{args.revisions}}"}[{{args.age}}])`
	const series = `last_over_time(revision_request_count` + of
	all := []metric{{
		name: "revision_request_count", series: series,
		counts:   `sum by (revision_name, response_code) (max by (pod_name, route_tag, revision_name, response_code) (` + series + `))`,
		buckets:  `sum by (revision_name, le) (max by (pod_name, route_tag, response_code, revision_name, le) (last_over_time(revision_request_latencies_bucket` + of + `))`,
		revision: "revision_name", code: "response_code", unit: time.Millisecond,
	}}
	for _, name := range []string{"kn_serving_invocation_duration_seconds", "kn_queueproxy_app_duration_seconds"} {
		all = append(all,
			measuredSeconds(name, "serving_knative_dev_revision", `{namespace="{{args.namespace}}",serving_knative_dev_revision=~"{{args.revisions}}"}[{{args.age}}]`),
			measuredSeconds(name, "kn_revision_name", `{k8s_namespace_name="{{args.namespace}}",kn_revision_name=~"{{args.revisions}}"}[{{args.age}}]`),
			// A pod may have the address that a pod of the other revision had before, so
			// the two are joined at each moment and not over the whole time.
			measuredSeconds(name, "kn_revision_name",
				` * on (job, instance) group_left (kn_revision_name) target_info{k8s_namespace_name="{{args.namespace}}",kn_revision_name=~"{{args.revisions}}"})[{{args.age}}:10s]`),
		)
	}
	return all
}

// measuredSeconds is a histogram of OpenTelemetry in seconds. Of follows its name,
// and closes a bracket where it is more than a selector.
func measuredSeconds(name, revision, of string) metric {
	const code = "http_response_status_code"
	series := func(suffix string) string {
		series := name + suffix + of
		if strings.Contains(of, ")[") {
			series = "(" + series
		}
		return `last_over_time(` + series + `)`
	}
	query := func(suffix, by string) string {
		return `sum by (` + revision + by + `) (max by (instance, ` + code + `, ` + revision + strings.TrimPrefix(by, `, `+code) + `) (` + series(suffix) + `))`
	}
	return metric{
		name: name, series: series("_count"), revision: revision, code: code, unit: time.Second,
		counts: query("_count", ", "+code), buckets: query("_bucket", ", le"), sums: query("_sum", ""),
	}
}

// Revisions are those whose requests are counted.
type Revisions struct {
	Namespace string
	Candidate string
	Old       string // empty: there is none
}

func (r Revisions) names() []string {
	if r.Old == "" || r.Old == r.Candidate {
		return []string{r.Candidate}
	}
	return []string{r.Candidate, r.Old}
}

// query fills the placeholders of one of a source's queries.
func (r Revisions) query(text string, age time.Duration) string {
	var names []string
	for _, name := range r.names() {
		names = append(names, regexp.QuoteMeta(name))
	}
	return strings.NewReplacer("{{args.namespace}}", r.Namespace, "{{args.revisions}}", strings.Join(names, "|"), "{{args.age}}", duration(age)).Replace(text)
}

// duration is how PromQL writes one, to the millisecond.
func duration(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) + "ms" }
