package gate

import (
	"time"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// Settings are what the gates of a target go by. The zero Settings ask none but live.
type Settings struct {
	Wait time.Duration // how long one commit may take to become live

	Probe   Probe
	WarmUp  string // path that is requested so that the candidate has a pod; empty: none
	Load    requests.Load
	Route   requests.Route     // of all requests to the Service
	Compare []compare.Question // what of the answers is compared with the old revision's

	SLO         slo.Objective // zero: what the requests of the run itself are judged by is the default
	Analysis    analysis.Inputs
	WaitForData time.Duration // how much longer than the bake time a step waits for requests enough to judge
}
