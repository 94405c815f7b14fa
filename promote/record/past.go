package record

import (
	"cmp"
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
)

// An End is how a promotion or rollback of the past ended; empty: it is under way.
type End string

// The ends.
const (
	Promoted   End = "promoted"    // with all traffic, after its last gate
	Held       End = "held"        // with the gates of a step before that passed
	RolledBack End = "rolled-back" // or it was a rollback itself
	Superseded End = "superseded"  // by the one after it
)

// An Entry is a promotion or rollback of the past. What it is called like in a Record
// is the same.
type Entry struct {
	Ended     End       `yaml:"ended"`
	Rollback  bool      `yaml:"rollback,omitempty"`
	Promotion string    `yaml:"promotion"`
	Reached   int       `yaml:"reached"`
	Passed    time.Time `yaml:"passed,omitempty"` // of its last step
	Gate      string    `yaml:"gate,omitempty"`
	To        Version   `yaml:"to"`
	From      Version   `yaml:"from,omitempty"`
	Base      string    `yaml:"base,omitempty"`
	TakenFrom string    `yaml:"taken-from,omitempty"` // the first overlay of its Source; empty: none
	Started   time.Time `yaml:"started"`
	Run       string    `yaml:"run,omitempty"`
	Actor     string    `yaml:"actor,omitempty"`
	Approved  string    `yaml:"approved,omitempty"`
	Code      Code      `yaml:",inline"`
	Unknown   string    `yaml:"-"`
}

// entryOf is how the recorded promotion ended, as far as is known.
func entryOf(r Record) Entry {
	e := Entry{
		Rollback: r.Step == Rollback, Promotion: r.Promotion, Reached: r.Reached, Passed: r.Passed, Gate: r.Gate,
		To: r.To, From: r.From, Base: r.Base, TakenFrom: r.Source.Overlay,
		Started: r.Started, Run: r.Run, Actor: r.Actor, Approved: r.Approved, Code: r.Code, Unknown: r.Unknown,
	}
	switch {
	case r.RollsBack():
		e.Ended = RolledBack
	case !r.HasPassed():
		e.Ended = ""
	case r.Percent == 100:
		e.Ended = Promoted
	default:
		e.Ended = Held
	}
	return e
}

// failed tells whether a promotion was restored: it has replaced nothing.
func (e Entry) failed() bool { return !e.Rollback && e.Ended == RolledBack }

// GaveNothing tells whether a promotion was restored before it had any traffic.
func (e Entry) GaveNothing() bool { return e.failed() && e.Reached == 0 }

// Entries are the recorded promotion and those before it, newest first.
func (r Record) Entries() []Entry {
	if !r.Exists() {
		return nil
	}
	return append([]Entry{entryOf(r)}, r.Past...)
}

// Remembers are the promotions and rollbacks of a record but for those that were restored, of which it keeps others for longer,
// and since when it has all of them; zero: it has all that there were.
func Remembers(r Record) (promotions []string, since time.Time) {
	for _, e := range r.Entries() {
		if e.failed() {
			continue
		}
		if promotions = append(promotions, e.Promotion); r.Cut {
			since = e.Started
		}
	}
	return promotions, since
}

// Position is where a record has a promotion among its entries; -1: it has none of that id.
func Position(r Record, promotion string) int {
	return slices.IndexFunc(r.Entries(), func(e Entry) bool { return e.Promotion == promotion })
}

// Follow makes the recorded promotion and those before it the past of another one's
// record. It is superseded by that if it has not ended.
func (r Record) Follow(before Record) Record {
	past := slices.Clone(before.Entries())
	if len(past) > 0 && (past[0].Ended == "" || past[0].Ended == Held) {
		past[0].Ended = Superseded
	}
	r.Past, r.Cut = past, before.Cut
	return keepIn(r, pastLimit)
}

// keepIn is the record with so many entries at most of those that failed, to which nothing can
// be rolled back, and so many others.
func keepIn(r Record, most int) Record {
	var kept []Entry
	failed, others := 0, 0
	for _, e := range r.Past {
		count := &others
		if e.failed() {
			count = &failed
		}
		if *count++; *count <= most {
			kept = append(kept, e)
		} else if !e.failed() {
			r.Cut = true
		}
	}
	r.Past = kept
	return r
}

// Continues is the record of a further step of the promotion that another one is of.
func (r Record) Continues(before Record) Record {
	r.Source, r.Pull = before.Source, before.Pull
	if before.Pull == 0 || before.HasBegun() { // else it stood on a branch of somebody's, and begins now
		r.Started = before.Started
	}
	r.Code = cmp.Or(before.Code, r.Code)
	if !r.Source.IsZero() {
		r.Code = before.Code // of the source, whatever the run is for
	}
	r.Reached = max(r.Reached, before.Reached)
	r.Past, r.Cut, r.Unknown = before.Past, before.Cut, before.Unknown
	return r
}

// CodeOf is what a revision was made of, as far as the record tells.
func (r Record) CodeOf(revision string) Code {
	for _, e := range r.Entries() {
		if e.To.Revision == revision && e.Code != (Code{}) {
			return e.Code
		}
	}
	return Code{}
}

// Known are the revisions of a record.
func Known(entries []Entry) []string {
	var names []string
	for _, e := range entries {
		names = append(names, e.To.Revision, e.From.Revision)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// UnfitBy is [Record.Unfit], by another record where this one does not know the revision: that
// of the commit that Argo CD has deployed, of which a revert has taken the record out.
func (r Record) UnfitBy(deployed Record, revision string) string {
	knows := func(e Entry) bool { return e.To.Revision == revision || e.From.Revision == revision }
	if slices.ContainsFunc(r.Entries(), knows) {
		return r.Unfit(revision)
	}
	return deployed.Unfit(revision)
}

// Unfit is why the traffic must not be left with a revision, in words that follow its
// name: by its last entry it was rolled back from, or has not passed its gates; empty:
// nothing speaks against it. Who gives it the traffic after a rollback from it by hand was
// live has decided so since.
func (r Record) Unfit(revision string) string {
	for _, e := range r.Entries() {
		switch {
		case e.Rollback && e.From.Revision == revision && !e.Passed.IsZero():
			return ""
		case e.Rollback && e.From.Revision == revision, e.failed() && e.To.Revision == revision:
			return "was rolled back from"
		case e.From.Revision == revision, e.To.Revision == revision && (e.Rollback || e.Ended == Promoted):
			return ""
		case e.To.Revision == revision:
			return "has not passed its gates"
		}
	}
	return ""
}

// Withdrawn is the revision with an overlay's images that was rolled back last, by a gate
// or by hand; empty: none was, or something with these images has passed since. What has
// only begun again says nothing.
func (r Record) Withdrawn(state *knative.State) string {
	return withdrawn(r.Entries(), func(v, instead Version) bool { return v.BroughtTo(state, instead) })
}

// Withdrew tells the same of a revision.
func (r Record) Withdrew(revision string) bool {
	return withdrawn(r.Entries(), func(v, _ Version) bool { return v.Revision == revision }) != ""
}

// WithdrawnConfiguration is the revision that was rolled back last and that an overlay makes as it
// stands: the images had been those, so it was for its configuration; empty: none was. What is promoted once more, as somebody
// has decided, is no leftover.
func WithdrawnConfiguration(r Record, now *knative.State) string {
	name, err := now.NextRevision()
	if again := !r.RollsBack() && r.To.Revision == name; err != nil || again || !r.Withdrew(name) {
		return ""
	}
	return name
}

func withdrawn(entries []Entry, is func(v, instead Version) bool) string {
	past := ""  // the revision that a rollback led to, past all that was promoted since that
	began := "" // what had the traffic when the next one began
	for _, e := range entries {
		if e.To.Revision == past {
			past = ""
		}
		stands := e.Rollback || e.Ended == Promoted
		taken := began != "" && began != e.To.Revision // by hand, as nothing here says so
		began = e.From.Revision
		switch {
		case past != "" && is(e.To, e.From), e.Ended == Promoted && taken && is(e.To, e.From):
			return e.To.Revision
		case e.failed() && is(e.From, e.To), past == "" && stands && is(e.To, e.From):
			return ""
		case e.failed() && is(e.To, e.From) && e.Gate != "": // else it was cancelled, and nobody has judged it
			return e.To.Revision
		case e.Rollback && is(e.From, e.To):
			return e.From.Revision
		}
		switch {
		case e.Rollback && past == "":
			past = e.To.Revision
		case e.From.Revision == past:
			past = ""
		}
	}
	return ""
}

// NeverPassed tells whether a record from before, as text, is of a promotion that gave
// all traffic and, as this record says, never passed. One that is older than what the
// record has is taken to have passed.
func (r Record) NeverPassed(then []byte) bool {
	was, err := Parse(then)
	if err != nil || was.Percent < 100 || was.RollsBack() || was.HasPassed() {
		return false
	}
	i := Position(r, was.Promotion)
	return i >= 0 && r.Entries()[i].Ended != Promoted
}
