package promote

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/acme/knative-promote/promote/check"
	"github.com/acme/knative-promote/promote/metrics"
	"github.com/acme/knative-promote/promote/slo"
)

// scraped counts the requests of a step by what a Prometheus has scraped of them.
func (p *part) scraped(at *Position, objective slo.Objective) (func(context.Context) (counts, error), error) {
	if p.Metrics == nil {
		return nil, errors.New("no Prometheus is given")
	}
	old, _ := oldOf(at.Intent, at.Intent.Revision)
	revisions := metrics.Revisions{Namespace: namespaceOf(at.Observed.Service), Candidate: at.Intent.Revision, Old: old}
	counter, err := metrics.New(p.Metrics, objective, revisions)
	if err != nil {
		return nil, err
	}
	said := time.Duration(0)
	return func(ctx context.Context) (counts, error) {
		seen, err := counter.Counts(ctx)
		if within := seen.Within; within > 0 && within < objective.Latency && within != said {
			said = within
			p.journal.say("slo: %s counts what took longer than %s, the next boundary below %s", objective.From, within, objective.Latency)
		}
		return countsOf(seen, err)
	}, nil
}

// counted is why the requests of the live revision cannot be counted, and what is
// known of the buckets in which their latency is.
func (p *part) counted(ctx context.Context) (check.Latency, error) {
	live := metrics.Revisions{Namespace: p.at.Live.Namespace, Candidate: p.at.Live.Status.LatestReadyRevisionName}
	counter, err := metrics.New(p.Metrics, p.objective(), live)
	if err != nil {
		return check.Latency{}, err
	}
	_, err = counter.Counts(ctx)
	if b, read := counter.Nearest(); read {
		return check.Latency{Limit: p.SLO.Latency, Below: b.Below, Above: b.Above, Scraped: true}, err
	}
	return p.usualLatency(), err
}

// usualLatency is what is known of the buckets that nobody has read.
func (c Config) usualLatency() check.Latency {
	b, known := metrics.Usual(c.SLO)
	if !known {
		return check.Latency{}
	}
	return check.Latency{Limit: c.SLO.Latency, Below: b.Below, Above: b.Above}
}

// countsOf has no request where there is no series: that may change, and is too
// few of them until then.
func countsOf(seen metrics.Seen, err error) (counts, error) {
	c := counts{candidate: seen.Candidate, old: seen.Old}
	if errors.Is(err, metrics.ErrNoSeries) {
		c.note = fmt.Sprintf("; %v", err)
		return c, nil
	}
	return c, err
}
