package slo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// An Objective is what a candidate must keep.
type Objective struct {
	// Success is how many of 100 requests must succeed at least, 0 where that is not asked.
	Success float64
	// Latency is the longest that an answer may take, 0 where that is not asked.
	Latency time.Duration
	// Fast is how many of 100 requests must be answered within Latency at least.
	Fast float64
	// Requests is how many the candidate must have had in a step before it may pass.
	Requests int
	// From says who counts.
	From Source
	// Scrape is the longest time between two scrapes of a pod, where each pod is
	// scraped for itself; 0 where that is not said.
	Scrape time.Duration
}

// A Source says who counts the requests: one of the constants, or a PromQL query.
type Source string

// The sources that have a name.
const (
	Load    Source = "load"    // the requests of the run itself
	Kourier Source = "kourier" // the gateway of Kourier
	Istio   Source = "istio"   // the gateway of Istio
	Knative Source = "knative" // Knative's own metrics
)

const defaultRequests = 50

// Default is the objective where none is given: 99 % of the run's own requests
// succeed.
func Default() Objective { return Objective{Success: 99, Requests: defaultRequests, From: Load} }

// String writes the objective as [Parse] reads it, with the defaults.
func (o Objective) String() string {
	var parts []string
	if o.Success > 0 {
		parts = append(parts, "success>="+number(o.Success)+"%")
	}
	if o.Latency > 0 {
		parts = append(parts, "latency<="+o.Latency.String()+"@"+number(o.Fast)+"%")
	}
	parts = append(parts, fmt.Sprintf("requests>=%d", o.Requests))
	if o.Scrape > 0 {
		parts = append(parts, "scrape="+o.Scrape.String())
	}
	parts = append(parts, "from="+string(o.From))
	return strings.Join(parts, " ")
}

func number(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// decimals is how many a percentage may have. It keeps limits away from 0 and 1,
// where the logarithms of the test end.
const decimals = 6

// rest is the share that a percentage leaves over, without the noise of binary
// fractions.
func rest(percent float64) float64 {
	return math.Round((100-percent)*1e6) / 1e8
}
