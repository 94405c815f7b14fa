package metrics

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// most is more than a counter can show exactly.
const most = 1 << 53

// count is a sample's value as a number of requests.
func count(s prometheus.Sample) (float64, error) {
	if !(s.Value >= 0 && s.Value < most) { // NaN is neither
		return 0, fmt.Errorf("%v cannot be a number of requests", s.Value)
	}
	return s.Value, nil
}

// responseCode is a status or its class. Istio writes 0 where the client was gone
// before the answer.
var responseCode = regexp.MustCompile(`^([1-5][0-9x]{2}|0)$`)

// tally adds the requests of one revision and those of them that failed, which
// are those with a status of 500 and more. It tells whether there was a series.
func (m metric) tally(samples []prometheus.Sample, revision string) (counts slo.Counts, found bool, err error) {
	var all, failed float64
	for _, s := range samples {
		if !m.own && s.Labels[m.revision] != revision {
			continue
		}
		code, err := m.codeOf(s)
		if err != nil {
			return counts, false, err
		}
		requests, err := count(s)
		if err != nil {
			return counts, false, err
		}
		found, all = true, all+requests
		if strings.HasPrefix(code, "5") {
			failed += requests
		}
	}
	return slo.Counts{Requests: int(all), Failed: int(failed)}, found, nil
}

// codeOf is the response code of a series. A user's query may give it any name,
// and no other label.
func (m metric) codeOf(s prometheus.Sample) (string, error) {
	label, code := m.code, s.Labels[m.code]
	if m.own {
		if len(s.Labels) != 1 {
			return "", fmt.Errorf("a series has %d labels, expected one, with the response code; such as %s", len(s.Labels), exampleQuery)
		}
		for label, code = range s.Labels { // the only one
		}
	}
	if !responseCode.MatchString(code) {
		return "", fmt.Errorf("a series has %s=%q, expected a response code such as 503 or 5xx", oneline.Of(label, 60), oneline.Of(code, 60))
	}
	return code, nil
}

// A histogram has how many requests were answered within each boundary.
type histogram map[float64]float64

func (m metric) histogram(samples []prometheus.Sample, revision string) (histogram, error) {
	h := histogram{}
	for _, s := range samples {
		if s.Labels[m.revision] != revision {
			continue
		}
		le, err := strconv.ParseFloat(s.Labels["le"], 64)
		if err != nil || math.IsNaN(le) {
			return nil, fmt.Errorf("a bucket has le=%q, expected a number", oneline.Of(s.Labels["le"], 60))
		}
		if h[le], err = count(s); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// boundary is the highest one that is not above the limit. Between two of them
// nobody knows which requests kept it, and the lower one lets none pass that did
// not.
func (h histogram) boundary(limit time.Duration, unit time.Duration) (float64, error) {
	wanted, best, lowest := float64(limit)/float64(unit), math.Inf(-1), math.Inf(1)
	for le := range h {
		lowest = min(lowest, le)
		if le <= wanted && le > best {
			best = le
		}
	}
	if math.IsInf(best, -1) {
		return 0, fmt.Errorf("a latency of %s cannot be measured: the lowest boundary of the buckets is %s", limit, span(lowest, unit))
	}
	return best, nil
}

// slow is how many requests were not answered within the boundary.
func (h histogram) slow(boundary float64) (int, error) {
	all, has := h[math.Inf(1)]
	if !has || h[boundary] > all {
		return 0, fmt.Errorf("the buckets are not whole: %v within %v, %v in all", h[boundary], boundary, all)
	}
	return int(all - h[boundary]), nil
}

// span is a boundary as a time.
func span(boundary float64, unit time.Duration) time.Duration {
	return time.Duration(math.Min(boundary*float64(unit), math.MaxInt64/2)).Round(time.Microsecond)
}

// wholeSeconds tells whether durations were counted in whole seconds: no sum of
// measured ones is a whole number.
func wholeSeconds(samples []prometheus.Sample) bool {
	return slices.ContainsFunc(samples, func(s prometheus.Sample) bool { return s.Value == math.Trunc(s.Value) })
}
