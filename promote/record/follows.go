package record

import (
	"bytes"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
)

// Follows tells whether what a record says of the promotions before its own is what the record has that it takes the place
// of. It goes on with the promotion of that, or begins one after it, or is one of its past again, as after a git revert. Of
// the same step it says the same. Where a rollback leads goes by what came before, so nobody else may write that.
func Follows(r, before Record) bool {
	at := Position(before, r.Promotion)
	switch {
	case !r.Exists():
		return true
	case at < 0:
		return sameText(r, r.Follow(before))
	case sameStep(r, before) && r.HasPassed() == before.HasPassed() && (r.HasPassed() || !r.RollsBack()): // else it is rolled back once more
		return sameText(r, before)
	case at == 0:
		next := r
		next.Past, next.Cut = before.Past, before.Cut
		return sameEnds(r, entryOf(before), before) && sameText(r, next)
	}
	was := before.Past[at-1]
	more := r.Reached > was.Reached || entryOf(r).Ended == Promoted && was.Ended != Promoted
	return !more && sameEnds(r, was, before) && remembers(r.Past, before.Past[at:], before.Cut)
}

func sameStep(a, b Record) bool { return a.Is(b.Promotion, b.Step) && a.Percent == b.Percent }

// NewlyPassed tells whether a record says that gates have passed of which the one that it takes the place of says nothing.
func NewlyPassed(r, before Record) bool {
	at := Position(before, r.Promotion)
	further := at < 0 || at == 0 && r.Percent >= before.Reached
	return r.HasPassed() && further && !(before.HasPassed() && sameStep(r, before))
}

// Passes tells whether a record is another one, but for that its gates have passed since, in whatever run.
func Passes(r, before Record) bool {
	passed := before.HasPassed()
	before.Passed, before.Commit, before.Run, before.Actor, before.Approved = r.Passed, r.Commit, r.Run, r.Actor, r.Approved
	return !passed && r.HasPassed() && sameText(r, before)
}

// remembers tells whether a past from before has all that a later record has of it, and beside that only what the later
// one can have forgotten: promotions that failed, and the oldest others.
func remembers(past, later []Entry, cut bool) bool {
	for _, e := range past {
		switch {
		case len(later) > 0 && sameEntry(e, later[0]):
			later = later[1:]
		case !e.failed() && (len(later) > 0 || !cut):
			return false
		}
	}
	return len(later) == 0
}

// sameEnds tells whether a record leads from and to what an entry of its promotion does. A restore leads to what was good
// before that, where what the promotion began from was not, and writes another revision, where one is gone.
func sameEnds(r Record, was Entry, before Record) bool {
	is := entryOf(r)
	restored := is.failed() || was.failed()
	from := sameVersion(is.From, was.From) || restored && hasOne(before, is.From, sameImages)
	base := is.Base == was.Base || restored && slices.ContainsFunc(before.Entries(), func(e Entry) bool { return e.Base == is.Base })
	return from && base && is.Rollback == was.Rollback && sameVersion(is.To, was.To)
}

// sameText tells whether two records are written the same.
func sameText(a, b Record) bool {
	one, errOne := a.Encode()
	other, errOther := b.Encode()
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
}

// sameEntry tells the same of two entries.
func sameEntry(a, b Entry) bool {
	one, errOne := keysOf(a)
	other, errOther := keysOf(b)
	return errOne == nil && errOther == nil && one+a.Unknown == other+b.Unknown
}

// LeadsBetween tells whether a record that begins after another one leads from what an overlay was to what it is, as far as that
// record does not know the versions: by nothing but their images they are made again, once they are gone.
func LeadsBetween(r, before Record, was, is *knative.State) bool {
	if Position(before, r.Promotion) >= 0 {
		return true
	}
	fits := func(v Version, state *knative.State) bool {
		return hasOne(before, v, sameVersion) || len(v.AllImages()) == 0 || v.SameImages(state)
	}
	onlyTraffic := r.RollsBack() && !hasOne(before, r.To, sameRevision) && r.To.Revision != is.Revision()
	return fits(r.From, was) && (onlyTraffic || fits(r.To, is))
}

// hasOne tells whether a record has a version that is the same as another one.
func hasOne(by Record, v Version, same func(a, b Version) bool) bool {
	return slices.ContainsFunc(by.Entries(), func(e Entry) bool { return same(e.To, v) || same(e.From, v) })
}

func sameVersion(a, b Version) bool { return sameRevision(a, b) && sameImages(a, b) }

func sameRevision(a, b Version) bool { return a.Revision == b.Revision }
