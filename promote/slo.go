package promote

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
func sloGate(p *part, step Step) Gate {
	if !p.measures(step) {
		return Gate{}
	}
	return Gate{
		Name:     "slo",
		Patience: step.Bake + p.WaitForData + p.lastLook(),
		Check: func(ctx context.Context, at *Position) (string, error) {
			m := measurement{objective: p.objective(), bake: step.Bake, wait: p.WaitForData, seen: &p.measured, say: p.journal.say}
			send, err := p.counting(&m, at)
			if err != nil {
				return "", err
			}
			ctx, stop := context.WithCancel(ctx)
			var sending sync.WaitGroup
			sending.Go(func() { send(ctx) })
			defer sending.Wait()
			defer stop()
			return m.judge(ctx, at.Step.Name)
		},
	}
}

// lastLook is the longest that a look takes that begins at the end, or that the
// requests take which are under way then.
func (c Config) lastLook() time.Duration {
	if c.byMetrics() {
		return scrapedInterval + metrics.Patience
	}
	return requests.Limit
}

// measures tells whether the candidate's requests are judged in a step. At 0 %
// it has none but the run's own.
func (c Config) measures(step Step) bool {
	return c.load(step).Rate > 0 || c.byMetrics() && step.Percent > 0
}

// byMetrics tells whether a metrics system counts the requests.
func (c Config) byMetrics() bool { return c.SLO.From != "" && c.SLO.From != slo.Load }

// counting says who counts the requests of a step, and what sends the run's own
// until ctx ends.
func (p *part) counting(m *measurement, at *Position) (send func(ctx context.Context), err error) {
	send = func(context.Context) {}
	if load := p.load(at.Step.Step()); load.Rate > 0 {
		own, err := p.ownRequests(at, load, m.objective)
		if err != nil {
			return nil, err
		}
		m.count, send = own.counts, func(ctx context.Context) { own.send(ctx, p.Way) }
	}
	if p.byMetrics() {
		m.count, err = p.scraped(at, m.objective)
		m.every, m.late = scrapedInterval, metrics.Late(m.objective)
	}
	return send, err
}

// load is what the run asks while a step bakes. Without the input load that is
// the probe's request, once a second, unless others count what users ask.
func (c Config) load(step Step) requests.Load {
	switch {
	case c.Load.Rate > 0:
		return c.Load
	case c.Probe.Path != "" && !c.byMetrics() && (step.Bake > 0 || c.SLO != slo.Objective{}):
		return requests.Load{Path: c.Probe.Path, Rate: 1}
	}
	return requests.Load{}
}

// objective is what the requests are judged by. A probe alone asks too seldom to
// want many of them.
func (c Config) objective() slo.Objective {
	if c.SLO != (slo.Objective{}) {
		return c.SLO
	}
	objective := slo.Default()
	if c.Load.Rate == 0 {
		objective.Requests = 1
	}
	return objective
}
