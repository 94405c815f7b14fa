package promote

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/acme/knative-promote/argo"
)

// A Gate must pass after every step before the next one is published. The
// zero Gate is one that the run does not ask.
type Gate struct {
	Name string
	// Patience is the longest that Check takes.
	Patience time.Duration
	// Routed says that Check passes only where Knative routes to the old revision too.
	Routed bool
	// Check passes with a nil error only; the reason says in words what was seen.
	// An inconclusive error is one that on-inconclusive decides about.
	Check func(ctx context.Context, at *Position) (reason string, err error)
}

// Position is where a gate is asked: after which commit, and what the gates
// before have seen.
type Position struct {
	Step     PlannedStep
	Commit   string
	Intent   argo.Intent
	Observed argo.Observed // filled in by the gates live and bake

	promotion string // id in the record
}

// gates are the gates after a step, in the order in which they are asked. Those
// of one row are asked side by side: each takes the bake time.
func (p *part) gates(step Step) [][]Gate {
	rows := [][]Gate{
		{liveGate(p.Config, p.Cluster, p.journal.verdicts)},
		{warmUpGate(p, step)},
		{probeGate(p.Config)},
		{compareGate(p.Config, step)},
		{
			bakeGate(step, staysLive(p.Cluster, p.journal.verdicts)),
			sloGate(p, step),
			p.analysisGate(step),
		},
	}
	for i, row := range rows {
		rows[i] = slices.DeleteFunc(row, func(g Gate) bool { return g.Name == "" || p.unasked(g, step) })
	}
	return rows
}

// unasked tells whether a gate could not pass after a step, whatever the candidate
// is: beside an old revision that is not Ready only what Knative has routed before can
// be asked.
func (p *part) unasked(g Gate, step Step) bool {
	if p.plan.alone == "" || step.Percent == 100 {
		return false
	}
	_, err := candidateURL(p.at.Live, p.CandidateTag, step.Percent)
	return g.Routed || err != nil
}

// patience is the longest that all gates of a step take.
func (p *part) patience(step Step) time.Duration {
	var all time.Duration
	for _, row := range p.gates(step) {
		var longest time.Duration
		for _, gate := range row {
			longest = max(longest, gate.Patience)
		}
		all += longest
	}
	return all
}

// transient is a state that may pass.
type transient struct{ error }

// Unwrap gives the state itself.
func (t transient) Unwrap() error { return t.error }

// inconclusive is what a gate says that cannot tell whether the candidate is
// good: nothing speaks against it beyond chance, and not enough for it.
type inconclusive struct{ error }

// cutOff is inconclusive where the run's timeout has ended a gate that counts: what it
// had counted by then has not failed it.
func cutOff(err error) error {
	if errors.Is(err, ErrTimeout) {
		return inconclusive{err}
	}
	return err
}

// Error says so, before the reason.
func (i inconclusive) Error() string { return "inconclusive: " + i.error.Error() }

// Unwrap gives the reason.
func (i inconclusive) Unwrap() error { return i.error }
