// Package metrics counts the requests of two revisions by what a Prometheus has
// scraped of the gateway or of the revisions themselves. What each source needs
// is in docs/metrics.md.
//
// # Why the counts are exact
//
// rate and increase extrapolate, and see nothing of a series' first value: of
// nine requests to two pods increase makes 2.67, and a pod that is first scraped
// when it has failed four times has 0 failures by it. The counters of a new
// revision begin at 0, so the last value that each has had is the number of its
// requests. Those of a revision that ran before are counted from what they had at
// the first look. Both are [last_over_time], which also remembers pods that are
// gone. A counter that has begun again with its process before the first look is
// counted from there; where one is lower than at the first look nothing is said.
//
// Counts of all kinds of answers come from one query, so that they are of one
// moment, and a revision that has never answered well is no empty quotient.
//
// [last_over_time]: https://prometheus.io/docs/prometheus/latest/querying/functions/#aggregation_over_time
package metrics
