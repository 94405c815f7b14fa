package gate

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/setting"
	"github.com/acme/knative-promote/promote/slo"
)

// scrapedInterval is how often what a Prometheus has counted is judged.
const scrapedInterval = 2 * time.Second

func sloKind() Kind {
	return Kind{
		Name: "slo", Passes: "nothing speaks against the candidate's requests, and they are enough", Asked: "with `load` or `slo`, and with `probe` where a step bakes; side by side with `bake`", Sends: "load", Measures: true,
		Inputs: func(s *Settings) []setting.Row {
			return []setting.Row{
				{Name: "load", Said: setting.Guard, Of: []string{"slo", "probe"}, Example: "/healthz 5/s", Address: true, Value: setting.Bind(&s.Load, parseLoad),
					Usage: "path to request on the candidate's URL while a step bakes, and how often: `PATH NUMBER/s`, or `/m`; up to 20 % of the traffic the Service's URL is asked as well, to compare"},
				{Name: "slo", Said: setting.Guard, Of: []string{"load", "probe"}, Example: "success>=99% latency<=500ms@99%", Value: setting.Bind(&s.SLO, slo.Parse),
					Usage: "what the candidate's requests must keep: `success>=PERCENT%`, `latency<=DURATION@PERCENT%`, `requests>=NUMBER` in each step (default: 50), " +
						"`from=load` (default: the requests of `load`, or of `probe`), `from=kourier`, `istio`, `knative` or at the end a PromQL query (those of all users, as `prometheus` has them); without it `success>=99%`, where there is a load, or a probe and a step that bakes"},
			}
		},
		Gate: func(s Settings, step Step, _ Templates) Gate { return s.sloGate(step) },
	}
}

// mostLoad is the highest rate, in requests a second, that a load may have: it
// is there to see faults, not to find the limits of a Service.
const mostLoad = 100

// parseLoad accepts a path and a rate, such as `/healthz 5/s`.
func parseLoad(text string) (requests.Load, error) {
	fields := strings.Fields(text)
	if len(fields) != 2 || !setting.IsPath(fields[0]) {
		return requests.Load{}, errors.New("expected a path that starts with one slash, and a rate")
	}
	rate, err := parseRate(fields[1])
	return requests.Load{Path: fields[0], Rate: rate}, err
}

func parseRate(text string) (float64, error) {
	number, per, _ := strings.Cut(text, "/")
	count, err := strconv.Atoi(number)
	rate := float64(count)
	if per == "m" {
		rate /= 60
	}
	if err != nil || per != "s" && per != "m" || rate <= 0 || rate > mostLoad {
		return 0, fmt.Errorf("expected a rate of whole requests, at most %d a second, as NUMBER/s or NUMBER/m, but there is %q", mostLoad, text)
	}
	return rate, nil
}

// sloGate judges the requests of the candidate in this step and in those before
// it, while the step bakes. After that it waits until they are enough.
func (s Settings) sloGate(step Step) Gate {
	if !s.measures(step) {
		return Gate{}
	}
	return Gate{
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
		m.count, send = own.counts, func(ctx context.Context) { own.send(ctx, s.Route) }
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
