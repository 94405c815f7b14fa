package check

import (
	"time"
)

// metricsRules are about what counts the requests of users.
func metricsRules() []Rule {
	return []Rule{rule("metrics-none", findNoMetrics), rule("latency-between-buckets", findBetweenBuckets)}
}

// Latency is slo's limit, and the boundaries that the source has around it.
type Latency struct {
	Limit, Below, Above time.Duration // 0: there is none
	Scraped             bool          // they were read; else they are those that the source usually has
}

func findBetweenBuckets(f Facts) []found {
	l := f.Latency
	if l.Limit == 0 || l.Below == l.Limit || l.Scraped && l.Below == 0 { // none below is what findNoMetrics says
		return nil
	}
	return []found{{values: values{"From": f.MetricsFrom, "Limit": l.Limit, "Below": l.Below, "Above": l.Above, "Scraped": l.Scraped}}}
}

func findNoMetrics(f Facts) []found {
	if f.Metrics == nil {
		return nil
	}
	v := values{"From": f.MetricsFrom, "Why": f.Metrics, "Revision": ""}
	if f.Service != nil {
		v["Revision"] = f.Service.Status.LatestReadyRevisionName
	}
	return []found{{values: v}}
}
