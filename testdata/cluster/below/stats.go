package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// stats are the counters of the data path, under the names that the Envoy of Kourier gives them: its clusters are
// namespace/revision. https://www.envoyproxy.io/docs/envoy/latest/configuration/upstream/cluster_manager/cluster_stats
type stats struct {
	mu       sync.Mutex
	clusters map[string]*clusterStats
}

// clusterStats are those of one revision.
type clusterStats struct {
	codes map[int]int // requests by status
	times []int       // requests by the bucket that they fall into
	sum   time.Duration
}

// milliseconds are Envoy's own boundaries.
// https://github.com/envoyproxy/envoy/blob/v1.31.0/source/common/stats/histogram_impl.cc
var milliseconds = []float64{0.5, 1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 600000, 1800000, 3600000}

// count notes an answer. As with Envoy, a request whose client has gone before is not noted.
func (s *stats) count(cluster string, status int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clusters == nil {
		s.clusters = map[string]*clusterStats{}
	}
	c := s.clusters[cluster]
	if c == nil {
		c = &clusterStats{codes: map[int]int{}, times: make([]int, len(milliseconds)+1)}
		s.clusters[cluster] = c
	}
	bucket, _ := slices.BinarySearch(milliseconds, float64(took)/float64(time.Millisecond))
	c.codes[status]++
	c.times[bucket]++
	c.sum += took
}

// ServeHTTP writes the counters in Prometheus' text format.
func (s *stats) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	fmt.Fprintln(w, "# TYPE envoy_cluster_upstream_rq counter")
	names := slices.Sorted(maps.Keys(s.clusters))
	for _, name := range names {
		codes := s.clusters[name].codes
		for _, code := range slices.Sorted(maps.Keys(codes)) {
			fmt.Fprintf(w, "envoy_cluster_upstream_rq{envoy_response_code=\"%d\",envoy_cluster_name=%q} %d\n", code, name, codes[code])
		}
	}
	fmt.Fprintln(w, "# TYPE envoy_cluster_upstream_rq_time histogram")
	for _, name := range names {
		s.clusters[name].writeTimes(w, name)
	}
}

func (c *clusterStats) writeTimes(w http.ResponseWriter, name string) {
	const metric = "envoy_cluster_upstream_rq_time"
	within := 0
	for i, requests := range c.times {
		within += requests
		le := "+Inf"
		if i < len(milliseconds) {
			le = strconv.FormatFloat(milliseconds[i], 'f', -1, 64)
		}
		fmt.Fprintf(w, "%s_bucket{envoy_cluster_name=%q,le=%q} %d\n", metric, name, le, within)
	}
	fmt.Fprintf(w, "%s_sum{envoy_cluster_name=%q} %v\n", metric, name, float64(c.sum)/float64(time.Millisecond))
	fmt.Fprintf(w, "%s_count{envoy_cluster_name=%q} %d\n", metric, name, within)
}
