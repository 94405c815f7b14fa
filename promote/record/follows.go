package record

import (
	"bytes"
	"slices"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// Follows tells whether a record may take the place of another one: it begins a promotion after that, goes on with its
// promotion, or is one of its past again, as after a git revert. Where a rollback leads goes by what came before, so nobody else
// may write that. That gates have passed it says only of the step that the other one has, or of one below what that has reached.
func Follows(r, before Record) bool {
	at := Position(before, r.Promotion)
	switch {
	case !r.Exists():
		return true
	case r.Reached < r.Percent:
		return false
	case at < 0:
		return !r.HasPassed() && r.Unknown == "" && sameText(r, r.Follow(before))
	case at == 0 && sameStep(r, before):
		return sameStepAgain(r, before)
	case at == 0:
		return goesOn(r, before)
	}
	return comesBack(r, before, at)
}

// Returns tells whether a record is what another one has had before, as after a git revert, or none: it is of that one's step
// without the note that its gates have passed, of one below that, or of a promotion of its past.
func Returns(r, before Record) bool {
	at := Position(before, r.Promotion)
	switch {
	case !r.Exists():
		return true
	case at == 0 && sameStep(r, before):
		return sameText(r, before) || passes(before, r)
	case at == 0:
		return goesOn(r, before) && !r.RollsBack() && r.Reached <= before.Reached && (before.RollsBack() || r.Percent < before.Percent)
	}
	return at > 0 && Follows(r, before)
}

func sameStep(a, b Record) bool { return a.Is(b.Promotion, b.Step) && a.Percent == b.Percent }

// sameStepAgain tells whether a record says of a step what another one does, but for that its gates have passed, in whatever run,
// or that the note of that is taken out. What rolls back may be made once more.
func sameStepAgain(r, before Record) bool {
	switch {
	case r.HasPassed() != before.HasPassed():
		return passes(r, before) || passes(before, r)
	case r.HasPassed(), !r.RollsBack():
		return sameText(r, before)
	}
	next := withStepOf(before, r)
	next.Gate = before.Gate
	return sameText(r, asRestored(next, r, before))
}

// passes tells whether a record is another one, but for that its gates have passed since.
func passes(r, before Record) bool {
	passed := before.HasPassed()
	before.Passed, before.Commit, before.Run, before.Actor, before.Approved = r.Passed, r.Commit, r.Run, r.Actor, r.Approved
	return !passed && r.HasPassed() && sameText(r, before)
}

// goesOn tells whether a record is of another step of the same promotion.
func goesOn(r, before Record) bool {
	below := r.Percent < before.Reached && !r.RollsBack() // whose gates have passed, else it had not come further
	next := withStepOf(before, r)
	switch {
	case r.Reached > max(before.Reached, r.Percent), r.HasPassed() && !below, r.Gate != "" && r.Step != Restore, (r.Step == Rollback) != (before.Step == Rollback):
		return false
	case before.Pull > 0 && !before.HasBegun():
		next.Started = r.Started
	}
	next.Reached = r.Reached
	if next.Code == (Code{}) {
		next.Code = r.Code
	}
	return sameText(r, asRestored(next, r, before))
}

// withStepOf is a record with the step of another one, and who has made that.
func withStepOf(next, r Record) Record {
	next.Step, next.Percent, next.Tag, next.Moving, next.Gate = r.Step, r.Percent, r.Tag, r.Moving, r.Gate
	next.Passed, next.Commit, next.Run, next.Actor, next.Approved = r.Passed, r.Commit, r.Run, r.Actor, r.Approved
	return next
}

// asRestored is a record with what another one leads to, where one of the two restores: what was good before that, where what the
// promotion began from was not, and by another name, where the revision is gone. It is of what the one before knows.
func asRestored(next, r, before Record) Record {
	restored := r.Step == Restore || before.Step == Restore
	base := slices.ContainsFunc(before.Entries(), func(e Entry) bool { return e.Base == r.Base })
	if restored && base && mayBeNamed(r.From, before) {
		next.From, next.Base = r.From, r.Base
	}
	return next
}

// comesBack tells whether a record is of a promotion that another one has had, no further than that had come, with what the
// other one has of the past before it. What that has forgotten by now, as it has too many, the record may have behind that.
func comesBack(r, before Record, at int) bool {
	e, was, past := entryOf(r), before.Past[at-1], before.Past[at:]
	below := e.Reached < was.Reached && !r.RollsBack()
	switch {
	case e.Reached > was.Reached, e.Ended == Promoted && was.Ended != Promoted:
		return false
	case e.Passed.IsZero(), below: // it is of an earlier step, which may have been in another run
		was.Passed, was.Run, was.Actor, was.Approved = e.Passed, e.Run, e.Actor, e.Approved
	}
	if !r.RollsBack() && e.Gate == "" {
		was.Gate = ""
	}
	if was.failed() && !r.RollsBack() && mayBeNamed(e.From, before) {
		was.From, was.Base = e.From, e.Base
	}
	was.Ended, was.Reached = e.Ended, e.Reached
	if len(r.Past) < len(past) || r.Cut && !before.Cut {
		return false
	}
	all := append([]Entry{e}, r.Past...)
	known, forgotten := all[1:len(past)+1], all[len(past)+1:]
	return sameEntry(e, was) && slices.EqualFunc(known, past, sameEntry) && (len(forgotten) == 0 || before.Cut && leadTo(forgotten, all[len(past)]))
}

// leadTo tells whether entries are of promotions that have led, one by one, to what a newer one began from.
func leadTo(older []Entry, newer Entry) bool {
	for _, e := range older {
		if e.failed() || !sameVersion(e.To, newer.From) {
			return false
		}
		newer = e
	}
	return true
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
	own := r.From.SameImages(was) && (r.From.Revision == was.Revision() || !hasOne(before, r.From, sameRevision))
	from := len(r.From.AllImages()) == 0 || own || hasOne(before, r.From, sameVersion)
	to := r.To.Revision == is.Revision() && r.To.SameImages(is)
	if r.RollsBack() { // also from what users have past Git, where somebody has put the file back
		onlyTraffic := !hasOne(before, r.To, sameRevision) && r.To.Revision != is.Revision()
		return from && (onlyTraffic || r.To.SameImages(is) || len(r.To.AllImages()) == 0 || hasOne(before, r.To, sameVersion))
	}
	return from && to && held(r.From.Revision, was)
}

// held tells whether a revision may have had traffic by an overlay, or was to get it. Of what Knative names nothing there tells.
func held(revision string, by *knative.State) bool {
	traffic, err := by.Traffic()
	named := slices.ContainsFunc(traffic, func(t servingv1.TrafficTarget) bool { return t.RevisionName == revision })
	latest := len(traffic) == 0 || slices.ContainsFunc(traffic, func(t servingv1.TrafficTarget) bool { return t.RevisionName == "" })
	return err == nil && (revision == "" || named || latest || revision == by.Revision())
}

// mayBeNamed tells whether a version may be one that a record knows, by its images: it has another name where that is gone, and
// none that is another one's.
func mayBeNamed(v Version, by Record) bool {
	return hasOne(by, v, sameVersion) || hasOne(by, v, sameImages) && !hasOne(by, v, sameRevision)
}

// hasOne tells whether a record has a version that is the same as another one.
func hasOne(by Record, v Version, same func(a, b Version) bool) bool {
	return slices.ContainsFunc(by.Entries(), func(e Entry) bool { return same(e.To, v) || same(e.From, v) })
}

func sameVersion(a, b Version) bool { return sameRevision(a, b) && sameImages(a, b) }

func sameRevision(a, b Version) bool { return a.Revision == b.Revision }
