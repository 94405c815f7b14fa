package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/slo"
)

// scraped counts the requests of a step by what a Prometheus has scraped of them.
func (a Ask) scraped(objective slo.Objective) (func(context.Context) (counts, error), error) {
	if a.Metrics == nil {
		return nil, errors.New("no Prometheus is given")
	}
	old, _ := oldOf(a.Intent, a.Intent.Revision)
	revisions := metrics.Revisions{Namespace: a.namespace(), Candidate: a.Intent.Revision, Old: old}
	counter, err := metrics.New(a.Metrics, objective, revisions)
	if err != nil {
		return nil, err
	}
	said := time.Duration(0)
	return func(ctx context.Context) (counts, error) {
		seen, err := counter.Counts(ctx)
		if within := seen.Within; within > 0 && within < objective.Latency && within != said {
			said = within
			a.Say("slo: %s counts what took longer than %s, the next boundary below %s", objective.From, within, objective.Latency)
		}
		return countsOf(seen, err)
	}, nil
}

// countsOf has no request where there is no series: that may change, and is too
// few of them until then.
func countsOf(seen metrics.Seen, err error) (counts, error) {
	c := counts{candidate: seen.Candidate, old: seen.Old}
	if errors.Is(err, metrics.ErrNoSeries) {
		c.note = fmt.Sprintf("; %v", err)
		return c, nil
	}
	if _, unscraped := errors.AsType[*metrics.UnscrapedError](err); unscraped {
		err = stale{err}
	}
	return c, err
}
