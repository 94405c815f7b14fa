package gate

import (
	"slices"
	"time"

	"github.com/acme/knative-promote/promote/slo"
)

// A sample is what was counted by a time.
type sample struct {
	at time.Time
	counts
}

// samples are those at one step, the oldest first, and where its periods begin.
// The first sample is late before the step, and the counts are since then.
type samples struct {
	step   string
	late   time.Duration // how old a request may be that is not counted yet
	all    []sample
	opened []time.Time
	known  []second // by the newest look; nil: it does not tell
}

func beginSamples(step string, late time.Duration) *samples {
	now := time.Now()
	return &samples{step: step, late: late, all: []sample{{at: now.Add(-late)}}, opened: []time.Time{now}}
}

// last is the newest sample.
func (l *samples) last() sample { return l.all[len(l.all)-1] }

// by is the newest sample that is not after a time.
func (l *samples) by(t time.Time) sample {
	after, _ := slices.BinarySearchFunc(l.all, t, func(one sample, t time.Time) int {
		if one.at.After(t) {
			return 1
		}
		return -1
	})
	return l.all[max(after, 1)-1]
}

// base is the sample with which the last period begins.
func (l *samples) base() sample { return l.by(l.opened[len(l.opened)-1]) }

// open begins a period with the newest sample, unless the last one is too young.
// What can be compared of a period reaches late into those beside it, so it has
// to be some times as long.
func (l *samples) open() {
	if now := l.last().at; now.Sub(l.opened[len(l.opened)-1]) >= max(period, 4*l.late) {
		l.opened = append(l.opened, now)
	}
}

// periods are what was counted in each of them. Of the last one, so far.
func (l *samples) periods() []slo.Period {
	var all []slo.Period
	for i, began := range l.opened {
		ended := l.last().at
		if i+1 < len(l.opened) {
			ended = l.opened[i+1]
		}
		base := l.by(began)
		of := l.by(ended).since(base.counts)
		s := slo.Period{Step: l.step, Candidate: of.candidate, Old: of.old, Shared: of.shared}
		if l.late > 0 && of.old != nil {
			s.Bounds = l.bounds(began, ended)
		}
		if l.known != nil {
			s.Seconds = l.seconds(i)
		}
		all = append(all, s)
	}
	return all
}

// seconds are those that have begun in a period. The first one may have begun a little before it.
func (l *samples) seconds(period int) []slo.Second {
	all := []slo.Second{}
	for _, one := range l.known {
		before := period > 0 && one.at.Before(l.opened[period])
		behind := period+1 < len(l.opened) && !one.at.Before(l.opened[period+1])
		if !before && !behind {
			all = append(all, one.Second)
		}
	}
	return all
}

// bounds are what can be compared of a period. What was counted of one revision in
// it has happened in it or up to late before.
func (l *samples) bounds(began, ended time.Time) *slo.Bounds {
	base, sure := l.by(began), l.by(ended)
	if settled := l.by(l.last().at.Add(-l.late)); settled.at.Before(sure.at) {
		sure = settled
	}
	if sure.at.Before(base.at) {
		sure = base
	}
	least := sure.since(base.counts)
	most := l.by(ended.Add(l.late)).since(l.by(began.Add(-l.late)).counts)
	b := &slo.Bounds{Candidate: slo.Range{Least: least.candidate, Most: most.candidate}}
	if before := l.by(began.Add(l.late)); before.at.Before(ended) {
		b.Within = l.by(ended).since(before.counts).candidate
	}
	if least.old != nil && most.old != nil {
		b.Old = slo.Range{Least: *least.old, Most: *most.old}
	}
	return b
}
