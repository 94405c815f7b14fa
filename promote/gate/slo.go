package gate

import (
	"context"
	"sync"
	"time"

	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// scrapedInterval is how often what a Prometheus has counted is judged.
const scrapedInterval = 2 * time.Second

// sloGate judges the requests of the candidate in this step and in those before
// it, while the step bakes. After that it waits until they are enough.
func (s Settings) sloGate(step Step) Gate {
	if !s.measures(step) {
		return Gate{}
	}
	return Gate{
		Name:     "slo",
		Patience: step.Bake + s.WaitForData + s.lastLook(),
		Check: func(ctx context.Context, ask Ask) Outcome {
			m := measurement{objective: s.Objective(), bake: step.Bake, wait: s.WaitForData, seen: ask.Counted, say: ask.Say}
			send, err := s.counting(&m, ask)
			if err != nil {
				return Outcome{Err: err}
			}
			ctx, stop := context.WithCancel(ctx)
			var sending sync.WaitGroup
			sending.Go(func() { send(ctx) })
			defer sending.Wait()
			defer stop()
			reason, err := m.judge(ctx, ask.Step.Name)
			return Outcome{Reason: reason, Err: err, Counted: m.seen}
		},
	}
}

// lastLook is the longest that a look takes that begins at the end, or that the
// requests take which are under way then.
func (s Settings) lastLook() time.Duration {
	if s.ByMetrics() {
		return scrapedInterval + metrics.Patience
	}
	return requests.Limit
}

// measures tells whether the candidate's requests are judged in a step. At 0 %
// it has none but the run's own.
func (s Settings) measures(step Step) bool {
	return s.load(step).Rate > 0 || s.ByMetrics() && step.Percent > 0
}

// ByMetrics tells whether a metrics system counts the requests.
func (s Settings) ByMetrics() bool { return s.SLO.From != "" && s.SLO.From != slo.Load }

// counting says who counts the requests of a step, and what sends the run's own
// until ctx ends.
func (s Settings) counting(m *measurement, ask Ask) (send func(ctx context.Context), err error) {
	send = func(context.Context) {}
	if load := s.load(ask.Step); load.Rate > 0 {
		own, err := s.ownRequests(ask, load, m.objective)
		if err != nil {
			return nil, err
		}
		m.count, send = own.counts, func(ctx context.Context) { own.send(ctx, s.Way) }
	}
	if s.ByMetrics() {
		m.count, err = ask.scraped(m.objective)
		m.every, m.late = scrapedInterval, metrics.Late(m.objective)
	}
	return send, err
}

// load is what the run asks while a step bakes. Without the input load that is
// the probe's request, once a second, unless others count what users ask.
func (s Settings) load(step Step) requests.Load {
	switch {
	case s.Load.Rate > 0:
		return s.Load
	case s.Probe.Path != "" && !s.ByMetrics() && (step.Bake > 0 || s.SLO != slo.Objective{}):
		return requests.Load{Path: s.Probe.Path, Rate: 1}
	}
	return requests.Load{}
}

// Objective is what the requests are judged by. A probe alone asks too seldom to
// want many of them.
func (s Settings) Objective() slo.Objective {
	if s.SLO != (slo.Objective{}) {
		return s.SLO
	}
	objective := slo.Default()
	if s.Load.Rate == 0 {
		objective.Requests = 1
	}
	return objective
}
