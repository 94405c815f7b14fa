package check

import (
	"fmt"
	"time"

	"github.com/acme/knative-promote/promote/event"
)

// metricsRules are about what counts the requests of users.
func metricsRules() []Rule {
	return []Rule{{
		ID: "metrics-none", Severity: event.SeverityWarning, Find: findNoMetrics,
		Summary: "Prometheus does not have the requests that slo is to be judged by",
		Link:    "https://prometheus.io/docs/prometheus/latest/querying/api/",
	}, {
		ID: "latency-between-buckets", Severity: event.SeverityWarning, Find: findBetweenBuckets,
		Summary: "the latency of slo is no boundary of the buckets in which its source counts",
		Link:    "https://github.com/acme/knative-promote/blob/main/docs/metrics.md",
	}}
}

// Latency is slo's limit, and the boundaries that the source has around it.
type Latency struct {
	Limit, Below, Above time.Duration // 0: there is none
	Scraped             bool          // they were read; else they are those that the source usually has
}

func findBetweenBuckets(f Facts) []event.Finding {
	l := f.Latency
	if l.Limit == 0 || l.Below == l.Limit || l.Scraped && l.Below == 0 { // none below is what findNoMetrics says
		return nil
	}
	found := event.Finding{
		Problem: fmt.Sprintf("slo's latency<=%s is no boundary of the buckets in which from=%s counts latency", l.Limit, f.MetricsFrom),
		Effect:  fmt.Sprintf("It is judged by the next lower one: a request that took longer than %s counts as slow.", l.Below),
		Fix:     "Give one of them as the limit",
	}
	switch {
	case l.Below == 0:
		found.Effect = "No request can be told to have kept it: the gate slo fails after the first step with traffic."
		found.Evidence, found.Fix = fmt.Sprintf("the lowest boundary is %s", l.Above), fmt.Sprintf("Give latency<=%s", l.Above)
	case l.Above == 0:
		found.Evidence, found.Fix = fmt.Sprintf("the highest boundary is %s", l.Below), fmt.Sprintf("Give latency<=%s", l.Below)
	default:
		found.Evidence = fmt.Sprintf("the nearest boundaries are %s and %s", l.Below, l.Above)
		found.Fix = fmt.Sprintf("Give latency<=%s or latency<=%s", l.Below, l.Above)
	}
	found.Fix += ", have the source count at the limit, or use from=load, which measures every request."
	if !l.Scraped {
		found.Evidence += ", as its buckets usually are; those in Prometheus were not seen"
	}
	return []event.Finding{found}
}

func findNoMetrics(f Facts) []event.Finding {
	if f.Metrics == nil {
		return nil
	}
	name := ""
	if f.Service != nil {
		name = " of revision " + f.Service.Status.LatestReadyRevisionName
	}
	return []event.Finding{{
		Problem:  fmt.Sprintf("The requests%s, which is live, cannot be counted by slo's from=%s", name, f.MetricsFrom),
		Effect:   "If that stays so, the gate slo cannot tell whether a candidate is good: the promotion ends held by on-inconclusive, or rolled back where Prometheus cannot be asked.",
		Evidence: f.Metrics.Error(),
		Fix:      switchOn(f.MetricsFrom) + " A revision that nobody has asked for an hour has no series either. docs/metrics.md says more.",
	}}
}

// switchOn is what a source needs.
func switchOn(source string) string {
	switch source {
	case "kourier":
		return "Have Prometheus scrape the gateway's pods in kourier-system, port 9000, path /stats/prometheus."
	case "istio":
		return "Have Prometheus scrape the gateway's pods, port 15020, path /stats/prometheus, and keep Istio's standard metrics on."
	case "knative":
		return "Switch request metrics on in the ConfigMap config-observability of knative-serving, from 1.19 on with request-metrics-protocol: prometheus, and have Prometheus scrape the pods' port 9091; or use from=kourier or from=istio."
	}
	return "Run the query in Prometheus, with the revision's name in place of {{args.revision}}."
}
