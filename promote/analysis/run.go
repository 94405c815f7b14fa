package analysis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/analysis/condition"
	"github.com/acme/knative-promote/promote/analysis/template"
)

// A Source makes one measurement of a metric, within the metric's timeout. An
// error says that there is no result; it may contain secrets, which are hidden
// before anybody sees it.
type Source interface {
	Measure(ctx context.Context, metric template.Metric) (Answer, error)
}

// Answer is what a source measured.
type Answer struct {
	Result any // what the conditions are asked of
	// Phase is set by a source that knows the end of it without conditions.
	Phase condition.Phase
	Note  string // in words, what Phase follows from
	Final bool   // measuring once more would do harm
}

// Sources are the providers.
type Sources struct {
	Web, Prometheus, Job Source
}

// Times are how long a run may take.
type Times struct {
	Bake time.Duration // of the step: how long endless metrics are measured
	Wait time.Duration // how much longer than its time a metric waits for data
}

// How long after a failed measurement the next one follows, whatever the interval,
// and the one after a result without data where there is no interval.
const retryAfter = 10 * time.Second

// mostErrors are the measurements in a row for which an overdue metric is given
// time.
const mostErrors = 10

// errOver ends the other metrics once one is not Successful.
var errOver = errors.New("another metric has ended the analysis")

// Run measures all metrics until each has come to its end, or one that is no dry
// run is not Successful. The error is the context's, and says nothing of the
// candidate.
func (a Analysis) Run(ctx context.Context, sources Sources, times Times) (Assessment, error) {
	metrics, err := a.Metrics()
	if err != nil {
		return Assessment{Phase: condition.Error, Reason: err.Error()}, nil
	}
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	measured := make([]Measured, len(metrics))
	var all sync.WaitGroup
	for i, metric := range metrics {
		all.Go(func() {
			f := follower{analysis: a, index: i, metric: metric, source: sources.of(metric), times: times, started: time.Now()}
			measured[i] = f.follow(running)
			if rank(measured[i].Phase) > 0 && !metric.DryRun {
				end(fmt.Errorf("%w: %s is %s", errOver, metric.Name, measured[i].Phase))
			}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return assess(measured), context.Cause(ctx)
	}
	return assess(measured), nil
}

func (s Sources) of(m template.Metric) Source {
	switch {
	case m.Prometheus != nil:
		return s.Prometheus
	case m.Job != nil:
		return s.Job
	}
	return s.Web
}

// follower follows one metric to its end.
type follower struct {
	analysis Analysis
	index    int
	metric   template.Metric
	source   Source
	times    Times
	started  time.Time

	ours, theirs tally
	rollouts     condition.Phase // what Argo Rollouts ended with, if it has
	measurements []Measurement
	final        bool // the last measurement must stay the last
}

func (f *follower) follow(ctx context.Context) Measured {
	for pause := f.metric.InitialDelay; ; pause = f.pause() {
		if sleep.For(ctx, pause) != nil {
			return f.skipped(ctx)
		}
		measurement := f.measure(ctx)
		if measurement.Phase == condition.Error && ctx.Err() != nil { // one that was cut off is none
			return f.skipped(ctx)
		}
		f.note(measurement)
		if phase, reason := f.end(); phase != "" {
			return f.measured(phase, reason)
		}
	}
}

// note keeps a measurement, and what it means.
func (f *follower) note(m Measurement) {
	f.ours.add(m.Phase)
	f.theirs.add(m.Rollouts)
	if f.rollouts == "" {
		f.rollouts, _ = f.theirs.assess(f.metric)
	}
	f.measurements = append(f.measurements, m)
	if extra := len(f.measurements) - f.metric.Retention; extra > 0 {
		f.measurements = slices.Delete(f.measurements, 0, extra)
	}
}

// end is what the metric came to, empty while it goes on.
func (f *follower) end() (condition.Phase, string) {
	took, due := time.Since(f.started), f.due()
	if f.final {
		return condition.Error, "could not be measured"
	}
	seen := f.ours.last != condition.Error && f.ours.last != condition.NoData
	if phase, reason := f.ours.judge(f.metric, f.metric.Endless() && seen && took >= due); phase != "" {
		return phase, reason
	}
	switch late := took - due; {
	case f.ours.last == condition.NoData && late >= f.times.Wait:
		return condition.Inconclusive, fmt.Sprintf("there was no data, %s after it was due", late)
	case f.ours.last == condition.Error && late >= f.times.Wait+graceForErrors(f.metric):
		return condition.Error, fmt.Sprintf("could not be measured, %s after it was due", late)
	}
	return "", ""
}

// graceForErrors is how much longer a metric takes because measurements in a row
// cannot be made. A high limit on them does not make a run endless.
func graceForErrors(m template.Metric) time.Duration {
	return time.Duration(min(m.ConsecutiveErrorLimit+1, mostErrors)) * (retryAfter + m.Timeout())
}

// due is when the metric has all of its measurements, if none fails.
func (f *follower) due() time.Duration {
	if f.metric.Endless() {
		return max(f.times.Bake, f.metric.InitialDelay)
	}
	return f.metric.InitialDelay + time.Duration(f.metric.Count-1)*f.metric.Interval
}

// pause is the time until the next measurement.
func (f *follower) pause() time.Duration {
	if f.ours.last == condition.Error || f.metric.Interval == 0 {
		return retryAfter
	}
	if left := f.due() - time.Since(f.started); f.metric.Endless() && 0 < left && left < f.metric.Interval {
		return left
	}
	return f.metric.Interval
}

func (f *follower) skipped(ctx context.Context) Measured {
	made := f.ours.count + f.ours.errors + f.ours.noData
	reason := fmt.Sprintf("%s %s made, then: %v", measurements(made), was(made), context.Cause(ctx))
	return f.measured(Skipped, reason)
}

func (f *follower) measured(phase condition.Phase, reason string) Measured {
	switch {
	case f.rollouts != "":
	case phase == Skipped || f.metric.Endless(): // it calls what is ended Successful
		f.rollouts = condition.Successful
	default: // it would measure on
		for f.rollouts == "" {
			f.theirs.add(f.theirs.last)
			f.rollouts, _ = f.theirs.assess(f.metric)
		}
	}
	return Measured{
		Name: f.metric.Name, Phase: phase, Reason: reason, DryRun: f.metric.DryRun, Rollouts: f.rollouts, Measurements: f.measurements,
	}
}
