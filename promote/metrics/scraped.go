package metrics

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// An UnscrapedError is that counters are counted as they were when they were scraped last, and no longer are: what has been counted
// stands, and nobody knows what has come since.
type UnscrapedError struct{ why string }

// Error says why.
func (e *UnscrapedError) Error() string { return e.why }

// downQuery gives how many of the targets whose series were scraped lately cannot be now. A gateway that several jobs scrape is one
// target, and what is gone with its pod is none.
// https://prometheus.io/docs/concepts/jobs_instances/
func downQuery(series string) string {
	return `count((max by (instance) (up) == 0) and on (instance) ` + series + `)`
}

// ageQuery gives how many seconds old the newest sample is of what is selected. Where its target is down, or gone, there is none.
func ageQuery(selected string) string { return `time() - max(timestamp(` + selected + `))` }

// scraped is an [*UnscrapedError] where what is counted is not scraped any more. Of a query of the user's own nobody knows what it counts.
func (r reading) scraped(ctx context.Context) error {
	if r.metric.own {
		return nil
	}
	every := cmp.Or(r.objective.Scrape, usualScrape)
	lately := max(r.age-before, 0) + 2*every
	down, err := r.ask(ctx, r.revisions.query(downQuery(r.metric.series), lately))
	if err != nil {
		return err
	}
	if len(down) > 0 && down[0].Value > 0 {
		return &UnscrapedError{fmt.Sprintf("Prometheus cannot scrape %v of the targets that count (up is 0), and knows nothing of them since", down[0].Value)}
	}
	if r.metric.stays == "" {
		return nil
	}
	age, err := r.ask(ctx, r.revisions.query(ageQuery(r.metric.stays), r.age))
	switch {
	case err != nil:
		return err
	case len(age) == 0:
		return &UnscrapedError{"Prometheus has had counters of the gateway, and scrapes none of them any more"}
	case age[0].Value > (2*every + written).Seconds():
		return &UnscrapedError{fmt.Sprintf("the newest sample of the gateway is %s old: where it is scraped less often than each %s, say so with scrape in slo",
			(time.Duration(age[0].Value) * time.Second).String(), every)}
	}
	return nil
}
