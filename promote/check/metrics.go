package check

import "fmt"

// metricsRules are about what counts the requests of users.
func metricsRules() []Rule {
	return []Rule{{
		ID: "metrics-none", Severity: Warning, Find: findNoMetrics,
		Summary: "Prometheus does not have the requests that slo is to be judged by",
		Link:    "https://prometheus.io/docs/prometheus/latest/querying/api/",
	}}
}

func findNoMetrics(f Facts) []Finding {
	if f.Metrics == nil {
		return nil
	}
	name := ""
	if f.Service != nil {
		name = " of revision " + f.Service.Status.LatestReadyRevisionName
	}
	return []Finding{{
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
