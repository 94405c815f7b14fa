package promote

import (
	"context"
	"sync"

	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// sloGate judges the requests of the candidate in this step and in those before
// it, while the step bakes. After that it waits until they are enough.
func sloGate(c Config, step Step, seen *measured, say func(string, ...any)) Gate {
	load := c.load(step)
	if load.Rate == 0 {
		return Gate{}
	}
	objective := c.objective()
	return Gate{
		Name:     "slo",
		Patience: step.Bake + c.WaitForData,
		Check: func(ctx context.Context, at *Position) (string, error) {
			own, err := c.ownRequests(at, load, objective)
			if err != nil {
				return "", err
			}
			ctx, stop := context.WithCancel(ctx)
			var sending sync.WaitGroup
			sending.Go(func() { own.send(ctx, c.Way) })
			defer sending.Wait()
			defer stop()
			m := measurement{objective: objective, count: own.counts, bake: step.Bake, wait: c.WaitForData, seen: seen, say: say}
			return m.judge(ctx, at.Step.Name)
		},
	}
}

// load is what the run asks while a step bakes. Without the input load that is
// the probe's request, once a second.
func (c Config) load(step Step) requests.Load {
	switch {
	case c.Load.Rate > 0:
		return c.Load
	case c.Probe.Path != "" && (step.Bake > 0 || c.SLO != slo.Objective{}):
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
