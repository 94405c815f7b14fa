package metrics

import (
	"math"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// Boundaries are those of the buckets in which a source counts latency that are
// nearest to a limit. The limit is one of them where it is Below.
type Boundaries struct {
	Below time.Duration // at most the limit; 0: all are higher
	Above time.Duration // more than the limit; 0: none is
}

// Nearest are the boundaries by what was read last. The second value is false where
// no bucket was.
func (c *Counter) Nearest() (Boundaries, bool) { return c.nearest, c.nearest != Boundaries{} }

// Usual are the boundaries that a source has everywhere, as far as that is known:
// Envoy's, unless its bootstrap says otherwise. Others differ by version.
// https://github.com/envoyproxy/envoy/blob/v1.31.0/source/common/stats/histogram_impl.cc
func Usual(objective slo.Objective) (Boundaries, bool) {
	if objective.From != slo.Kourier || objective.Latency == 0 {
		return Boundaries{}, false
	}
	h := histogram{}
	for _, le := range []float64{0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 600000, 1800000, 3600000} {
		h[le] = 0
	}
	return h.around(objective.Latency, time.Millisecond), true
}

// around are the boundaries that are nearest to a limit.
func (h histogram) around(limit, unit time.Duration) Boundaries {
	wanted, below, above := float64(limit)/float64(unit), math.Inf(-1), math.Inf(1)
	for le := range h {
		if le <= wanted {
			below = max(below, le)
		} else {
			above = min(above, le)
		}
	}
	var b Boundaries
	if !math.IsInf(below, -1) {
		b.Below = span(below, unit)
	}
	if !math.IsInf(above, 1) {
		b.Above = span(above, unit)
	}
	return b
}
