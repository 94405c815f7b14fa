package metrics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/oneline"
	"github.com/acme/knative-promote/promote/prometheus"
	"github.com/acme/knative-promote/promote/slo"
)

// before is how long before the first look a series may have been scraped for the
// last time and still be counted from where it was.
const before = time.Hour

const (
	// usualScrape is how often Prometheus scrapes where nothing else is configured
	// (https://prometheus.io/docs/prometheus/latest/configuration/configuration/).
	usualScrape = time.Minute
	// written is how long a scrape may take until its values are in the answers.
	written = 5 * time.Second
)

// Patience is the longest that a look takes, after the first one: it asks for the
// requests of each of two revisions, for the sums of their latency and its buckets, and twice whether they are scraped.
const Patience = 6 * prometheus.Limit

// Late is how much later than a request of one revision one of the other may be
// counted. A gateway counts both, and is scraped for both at once. Pods are scraped
// one after the other.
func Late(objective slo.Objective) time.Duration {
	switch objective.From {
	case slo.Kourier, slo.Istio:
		return 0
	}
	return cmp.Or(objective.Scrape, usualScrape) + written
}

// maxQuote bounds what is quoted of Prometheus, in bytes.
const maxQuote = 300

// brief is an error of Prometheus in no more words than a sentence has.
func brief(err error) error { return errors.New(oneline.Of(err.Error(), maxQuote)) }

// An Asker answers queries, at the moment that its own clock shows where at is
// zero. It is a [prometheus.Client].
type Asker interface {
	Query(ctx context.Context, query string, at time.Time) (prometheus.Answer, error)
}

// A Counter counts requests from its first look on, or, with [Late], from so long
// before. It is for one caller.
type Counter struct {
	asker     Asker
	objective slo.Objective
	revisions Revisions
	metrics   []metric // those that may have the series; one, when it is known

	began time.Time // by Prometheus' clock
	first time.Time // by ours
	based bool
	base  Seen

	nearest Boundaries // to the objective's latency, as last read; zero: not read
}

// Seen is what was counted.
type Seen struct {
	Candidate slo.Counts
	Old       *slo.Counts // nil: there is none
	// Within is the boundary that slow requests were counted at, at most the
	// objective's latency, 0 where they are not counted or not known.
	Within time.Duration
}

// New checks the objective. It asks nothing yet.
func New(asker Asker, objective slo.Objective, revisions Revisions) (*Counter, error) {
	if err := Check(objective); err != nil {
		return nil, err
	}
	return &Counter{asker: asker, objective: objective, revisions: revisions, metrics: metricsOf(objective.From)}, nil
}

// ErrNoSeries means that Prometheus has no series of either revision. It may have
// some later. Requests that it then has of a revision are counted from the first.
var ErrNoSeries = errors.New("no such series in Prometheus")

// Counts are the requests since the first look. A candidate without a series
// beside an old revision that has some has had no request yet. With an [*UnscrapedError] there are some.
func (c *Counter) Counts(ctx context.Context) (Seen, error) {
	at, age, err := c.moment(ctx)
	if err != nil {
		return Seen{}, err
	}
	now, err := c.totals(ctx, at, age)
	if !isCounted(err) {
		return Seen{}, err
	}
	if !c.based {
		base, late := now, Late(c.objective)
		if late > 0 {
			earlier, err := c.totals(ctx, at.Add(-late), age-late)
			if !isCounted(err) {
				return Seen{}, err
			}
			base = earlier
		}
		c.based, c.base = true, base
	}
	since := now.since(c.base)
	if since.fell() {
		return Seen{}, errors.New("the counters are lower than when the step began, as of a process that has started again: nobody can tell how many requests failed")
	}
	return since, err
}

// isCounted tells whether something is counted, if only that there is nothing yet, beside an error or without.
func isCounted(err error) bool {
	_, unscraped := errors.AsType[*UnscrapedError](err)
	return err == nil || unscraped || errors.Is(err, ErrNoSeries)
}

// fell tells whether something was counted less than before.
func (s Seen) fell() bool {
	less := func(c slo.Counts) bool { return min(c.Requests, c.Failed, c.Slow) < 0 }
	return less(s.Candidate) || s.Old != nil && less(*s.Old)
}

// moment is the present by Prometheus' clock, and how far back to read: always to
// the same moment, so that no series drops out between two looks.
func (c *Counter) moment(ctx context.Context) (at time.Time, age time.Duration, err error) {
	if c.began.IsZero() {
		answer, err := c.asker.Query(ctx, "time()", time.Time{})
		if err != nil {
			return at, 0, brief(err)
		}
		if len(answer.Samples) != 1 || !(answer.Samples[0].Value > 0 && answer.Samples[0].Value < 1e11) {
			return at, 0, errors.New("asking Prometheus for its time: expected one number of seconds")
		}
		c.first, c.began = time.Now(), time.UnixMilli(int64(answer.Samples[0].Value*1000))
	}
	passed := time.Since(c.first).Truncate(time.Millisecond)
	return c.began.Add(passed), passed + before, nil
}

// totals are the requests of all time, by the first of the metrics that has any.
func (c *Counter) totals(ctx context.Context, at time.Time, age time.Duration) (Seen, error) {
	var names []string
	for _, m := range c.metrics {
		seen, found, err := c.read(ctx, m, at, age)
		if err != nil {
			err = fmt.Errorf("counting by %s: %w", m.name, err)
		}
		if found {
			c.metrics = []metric{m}
		}
		if found || err != nil {
			return seen, err
		}
		if len(names) == 0 || names[len(names)-1] != m.name {
			names = append(names, m.name)
		}
	}
	var none Seen
	if c.revisions.Old != "" {
		none.Old = new(slo.Counts)
	}
	return none, fmt.Errorf("counting %s by %s: %w", strings.Join(c.revisions.names(), " and "), strings.Join(names, " or "), ErrNoSeries)
}

// read asks for one metric of both revisions, and tells whether there is any series.
func (c *Counter) read(ctx context.Context, m metric, at time.Time, age time.Duration) (seen Seen, found bool, err error) {
	r := reading{Counter: c, metric: m, at: at, age: age}
	all, err := r.counts(ctx)
	if err != nil || len(all) == 0 {
		return Seen{}, false, err
	}
	if c.objective.Latency > 0 {
		if seen.Within, err = r.slow(ctx, all); err != nil {
			return Seen{}, false, err
		}
	}
	seen.Candidate = all[c.revisions.Candidate]
	if c.revisions.Old != "" {
		old := all[c.revisions.Old]
		seen.Old = &old
	}
	return seen, true, r.scraped(ctx)
}

// since is what has come after an earlier look.
func (s Seen) since(earlier Seen) Seen {
	s.Candidate = s.Candidate.Since(earlier.Candidate)
	if s.Old != nil && earlier.Old != nil {
		old := s.Old.Since(*earlier.Old)
		s.Old = &old
	}
	return s
}

// A reading is one look at one metric.
type reading struct {
	*Counter
	metric metric
	at     time.Time
	age    time.Duration
}

// counts are the requests by revision, of those that have a series.
func (r reading) counts(ctx context.Context) (map[string]slo.Counts, error) {
	all := map[string]slo.Counts{}
	var samples []prometheus.Sample
	var err error
	for i, name := range r.revisions.names() {
		switch {
		case r.metric.own:
			samples, err = r.ask(ctx, r.revisions.ownQuery(r.metric.counts, name, r.age))
		case i == 0:
			samples, err = r.ask(ctx, r.revisions.query(r.metric.counts, r.age))
		}
		if err != nil {
			return nil, err
		}
		counts, found, err := r.metric.tally(samples, r.label(name))
		if err != nil {
			return nil, err
		}
		if found {
			all[name] = counts
		}
	}
	return all, nil
}

// label is the value of a revision's label.
func (r reading) label(name string) string { return r.revisions.query(r.metric.prefix, r.age) + name }

// slow counts the slow requests into all, and tells which boundary they exceed.
func (r reading) slow(ctx context.Context, all map[string]slo.Counts) (within time.Duration, err error) {
	if err := r.wholeSeconds(ctx); err != nil {
		return 0, err
	}
	samples, err := r.ask(ctx, r.revisions.query(r.metric.buckets, r.age))
	if err != nil {
		return 0, err
	}
	for name, counts := range all {
		h, err := r.metric.histogram(samples, r.label(name))
		switch {
		case err != nil:
			return 0, err
		case len(h) == 0 && counts.Requests > 0:
			return 0, fmt.Errorf("%s has %d requests and no buckets of their latency", name, counts.Requests)
		case len(h) == 0:
			continue
		}
		r.nearest = h.around(r.objective.Latency, r.metric.unit)
		boundary, err := h.boundary(r.objective.Latency, r.metric.unit)
		if err != nil {
			return 0, err
		}
		if counts.Slow, err = h.slow(boundary); err != nil {
			return 0, err
		}
		counts.Slow = min(counts.Slow, counts.Requests) // one more may be in the buckets already
		all[name], within = counts, span(boundary, r.metric.unit)
	}
	return within, nil
}

// wholeSeconds refuses the versions of Knative that count 0.9 s as 0.
// https://github.com/knative/serving/commit/4004491
func (r reading) wholeSeconds(ctx context.Context) error {
	if r.metric.sums == "" {
		return nil
	}
	samples, err := r.ask(ctx, r.revisions.query(r.metric.sums, r.age))
	if err == nil && wholeSeconds(samples) {
		return errors.New("this version of Knative counts latency in whole seconds: expected 1.19.9, 1.20.2 or 1.21 and newer, or from=kourier or istio")
	}
	return err
}

// ask is for answers that are whole.
func (r reading) ask(ctx context.Context, query string) ([]prometheus.Sample, error) {
	answer, err := r.asker.Query(ctx, query, r.at)
	switch {
	case err != nil:
		return nil, brief(err)
	case len(answer.Warnings) > 0:
		return nil, fmt.Errorf("the answer may not be whole: %s", oneline.Of(strings.Join(answer.Warnings, "; "), maxQuote))
	}
	return answer.Samples, nil
}
