package promote

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
	"github.com/acme/knative-promote/gitops/repourl"
)

// An Entry is a promotion or rollback of the past. What it is called like in a Record
// is the same.
type Entry struct {
	Ended     Status    `yaml:"ended"` // promoted, rolled-back, held, superseded; empty while it is under way
	Rollback  bool      `yaml:"rollback,omitempty"`
	Promotion string    `yaml:"promotion"`
	Reached   int       `yaml:"reached"`
	Passed    time.Time `yaml:"passed,omitempty"` // of its last step
	Gate      string    `yaml:"gate,omitempty"`
	To        Version   `yaml:"to"`
	From      Version   `yaml:"from,omitempty"`
	Base      string    `yaml:"base,omitempty"`
	Started   time.Time `yaml:"started"`
	Run       string    `yaml:"run,omitempty"`
	Actor     string    `yaml:"actor,omitempty"`
	Approved  string    `yaml:"approved,omitempty"`
	Code      Code      `yaml:",inline"`
	Unknown   string    `yaml:"-"`
}

// entry is how the recorded promotion ended, as far as is known.
func (r Record) entry() Entry {
	e := Entry{
		Rollback: r.Step == stepRollback, Promotion: r.Promotion, Reached: r.Reached, Passed: r.Passed, Gate: r.Gate,
		To: r.To, From: r.From, Base: r.Base,
		Started: r.Started, Run: r.Run, Actor: r.Actor, Approved: r.Approved, Code: r.Code, Unknown: r.Unknown,
	}
	switch {
	case r.rollsBack():
		e.Ended = RolledBack
	case !r.passed():
		e.Ended = ""
	case r.Percent == 100:
		e.Ended = Promoted
	default:
		e.Ended = Held
	}
	return e
}

// entries are the recorded promotion and those before it, newest first.
func (r Record) entries() []Entry {
	if !r.exists() {
		return nil
	}
	return append([]Entry{r.entry()}, r.Past...)
}

// follow makes the recorded promotion and those before it the past of another one's
// record. It is superseded by that if it has not ended.
func (r Record) follow(before Record) Record {
	past := slices.Clone(before.entries())
	if len(past) > 0 && (past[0].Ended == "" || past[0].Ended == Held) {
		past[0].Ended = Superseded
	}
	r.Past, r.Cut = past, before.Cut
	return r.keep(pastLimit)
}

// keep is the record with so many entries at most.
func (r Record) keep(most int) Record {
	if len(r.Past) > most {
		r.Past, r.Cut = r.Past[:most], true
	}
	return r
}

// continues is the record of a further step of the promotion that another one is of.
func (r Record) continues(before Record) Record {
	r.Started, r.Source, r.Pull = before.Started, before.Source, before.Pull
	r.Code, r.Approved = cmp.Or(before.Code, r.Code), cmp.Or(r.Approved, before.Approved)
	if !r.Source.IsZero() {
		r.Code = before.Code // of the source, whatever the run is for
	}
	r.Reached = max(r.Reached, before.Reached)
	r.Past, r.Cut, r.Unknown = before.Past, before.Cut, before.Unknown
	return r
}

// codeOf is what a revision was made of, as far as the record tells.
func (r Record) codeOf(revision string) Code {
	for _, e := range r.entries() {
		if e.To.Revision == revision && e.Code != (Code{}) {
			return e.Code
		}
	}
	return Code{}
}

// stepRecord is what a step's commit says, on top of what the overlay said before.
func stepRecord(c Config, plan Plan, step string, before Record) Record {
	r := Record{
		Promotion: plan.ID, Repository: repourl.Shown(plan.Target.Source.RepoURL), Branch: plan.Target.Source.Branch, Overlay: plan.Overlay,
		Step: step, Percent: shareOf(step), Reached: shareOf(step), Tag: c.CandidateTag,
		To: plan.to, From: plan.from, Base: plan.Base,
		Started: plan.started, Run: c.RunURL, Actor: c.Actor, Approved: c.Approved, Code: c.Code, Source: plan.source, Pull: plan.pull,
	}
	if !plan.source.IsZero() {
		r.Code = plan.code
	}
	if before.Promotion == plan.ID {
		return r.continues(before)
	}
	return r.follow(before.of(plan.Target))
}

// failedGate is the gate that keeps a promotion from going on; empty: the cause is
// another one.
func (p *part) failedGate(cause error) string {
	if !isGate(cause) || isSuperseded(cause) || errors.Is(cause, context.Canceled) {
		return ""
	}
	for _, step := range slices.Backward(p.journal.result.Steps) {
		for _, gate := range step.Gates {
			if gate.Name != commitGate && (gate.Progress == Broken || gate.Progress == Inconclusive) {
				return gate.Name
			}
		}
	}
	return ""
}

// sharedWith is the share of the traffic that an overlay gives a revision.
func sharedWith(state *knative.State, revision string) (percent int) {
	traffic, _ := state.Traffic() // what cannot be read gives it none
	for _, t := range traffic {
		if t.RevisionName == revision {
			percent += knative.Percent(t)
		}
	}
	return min(percent, 100)
}
