package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/acme/knative-promote/promote/requests"
	"github.com/acme/knative-promote/promote/slo"
)

// mostlyOld is up to how many percent of the traffic for the candidate the
// Service's own URL is still asked, to compare with. What the candidate has in
// that can only make it look less worse than the old revision.
const mostlyOld = 20

// ownRequests are those that the run itself sends to the candidate in a step,
// and to the Service as long as the old revision has most of its traffic.
type ownRequests struct {
	load           requests.Load
	began          time.Time
	candidate, old answered
	shared         bool // the Service's traffic already is
}

// answered counts what came from one URL.
type answered struct {
	url       string // empty: it is not asked
	objective slo.Objective
	expect    int
	began     time.Time

	mu      sync.Mutex
	seconds map[int]*inSecond // since it began
	counts  slo.Counts
	fault   error // of the last bad answer
	unsent  int
	since   int         // how many of these came after the last that was sent
	why     error       // the last one was not sent
	open    []time.Time // when those were sent that have not ended, the oldest first
}

// inSecond are the requests that were sent in one second, whenever they ended.
type inSecond struct {
	open   int // that have not ended
	counts slo.Counts
}

// ownRequests says whom the run asks in a step.
func (s Settings) ownRequests(ask Ask, load requests.Load, objective slo.Objective) (*ownRequests, error) {
	url, err := ask.candidateURL()
	if err != nil {
		return nil, err
	}
	own := &ownRequests{load: load, began: time.Now(), shared: ask.Step.Percent > 0}
	own.candidate = answered{url: url, objective: objective, expect: s.Probe.Expect, began: own.began}
	if service := ask.Observed.Service; ask.Step.Percent <= mostlyOld && service.Status.URL != nil {
		own.old = answered{url: service.Status.URL.String(), objective: objective, expect: s.Probe.Expect, began: own.began}
	}
	return own, nil
}

// send sends the load until ctx ends.
func (o *ownRequests) send(ctx context.Context, route requests.Route) {
	client := route.Open()
	defer client.Close()
	var sending sync.WaitGroup
	for _, to := range []*answered{&o.candidate, &o.old} {
		if to.url != "" {
			sending.Go(func() { o.load.Run(ctx, func(ctx context.Context) { to.ask(ctx, client, o.load.Path) }) })
		}
	}
	sending.Wait()
}

// ask sends one request and counts the answer.
func (a *answered) ask(ctx context.Context, client *requests.Client, path string) {
	sent := a.begin()
	answer := client.Get(ctx, requests.Address(a.url, path), io.Discard)
	if answer.Unsent != nil && ctx.Err() != nil {
		return // the step is over
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.end(sent)
	if answer.Unsent != nil {
		a.unsent, a.since, a.why = a.unsent+1, a.since+1, answer.Unsent
		return
	}
	a.since = 0
	one := slo.Counts{Requests: 1}
	if fault := answer.Fault(a.expect); fault != nil {
		one.Failed, a.fault = 1, fault
	}
	if a.objective.Latency > 0 && answer.Took > a.objective.Latency {
		one.Slow = 1
	}
	a.counts, of.counts = a.counts.And(one), of.counts.And(one)
}

// begin notes a request that is sent now.
func (a *answered) begin() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	a.open = append(a.open, now)
	a.second(now).open++
	return now
}

// end notes that a request has ended, and gives the second in which it was sent.
func (a *answered) end(sent time.Time) *inSecond {
	if i := slices.Index(a.open, sent); i >= 0 {
		a.open = slices.Delete(a.open, i, i+1)
	}
	of := a.second(sent)
	of.open--
	return of
}

// second is that of a time.
func (a *answered) second(at time.Time) *inSecond {
	i := int(at.Sub(a.began) / time.Second)
	if a.seconds[i] == nil {
		if a.seconds == nil {
			a.seconds = map[int]*inSecond{}
		}
		a.seconds[i] = &inSecond{}
	}
	return a.seconds[i]
}

// seconds are those that are over, and of which all requests have ended. What hangs is one of the second in which it was sent.
func (o *ownRequests) seconds() []second {
	candidate, old := o.candidate.bySecond(), o.old.bySecond()
	over := int(time.Since(o.began) / time.Second)
	all := []second{}
	for _, i := range slices.Sorted(maps.Keys(candidate)) {
		if i < over && candidate[i].open+old[i].open == 0 {
			all = append(all, second{o.began.Add(time.Duration(i) * time.Second), slo.Second{Candidate: candidate[i].counts, Old: old[i].counts}})
		}
	}
	return all
}

// bySecond are the requests by now.
func (a *answered) bySecond() map[int]inSecond {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := map[int]inSecond{}
	for i, of := range a.seconds {
		all[i] = *of
	}
	return all
}

// mostUnsent is how many requests in a row may not be sent before nobody knows what the candidate answers.
const mostUnsent = 3

// counts are the answers so far. It fails where no request could be sent at all, and they are stale where none can be any more.
func (o *ownRequests) counts(context.Context) (counts, error) {
	var c counts
	var err error
	c.open, c.seconds = o.candidate.oldest(), o.seconds()
	if c.candidate, c.note, err = o.candidate.sum(); err != nil {
		return c, err
	}
	if o.old.url != "" {
		old, _, _ := o.old.sum()
		c.old, c.shared = &old, o.shared
	}
	return c, o.candidate.cutOff()
}

// cutOff is the error where the last requests could not be sent.
func (a *answered) cutOff() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.since < mostUnsent {
		return nil
	}
	return stale{fmt.Errorf("none of the last %d requests could be sent: %w", a.since, a.why)}
}

// oldest is when the oldest request was sent that has not ended.
func (a *answered) oldest() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.open) == 0 {
		return time.Time{}
	}
	return a.open[0]
}

func (a *answered) sum() (counts slo.Counts, note string, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.counts.Requests == 0 && a.unsent == 0:
		return a.counts, "", errors.New("no request to " + a.url + " has been answered yet")
	case a.counts.Requests == 0:
		return a.counts, "", fmt.Errorf("none of %d requests could be sent: %w", a.unsent, a.why)
	case a.fault != nil:
		note = "; the last bad one: " + a.fault.Error()
	}
	if a.unsent > 0 {
		note += fmt.Sprintf("; %d more could not be sent: %v", a.unsent, a.why)
	}
	return a.counts, note, nil
}
