package record

import (
	"bytes"
	"slices"

	"github.com/acme/knative-promote/gitops/knative"
)

// Follows tells whether what a record says of the promotions before its own is what the record has that it takes the place
// of. It goes on with the promotion of that, or begins one after it, or is one of its past again, as after a git revert.
// Where a rollback leads goes by what came before, so nobody else may write that.
func Follows(r, before Record) bool {
	at := Position(before, r.Promotion)
	switch {
	case !r.Exists():
		return true
	case at < 0:
		next := r.Follow(before)
		return fromKnown(r.From, before) && sameText(r, next)
	case at == 0:
		next := r
		next.Past, next.Cut = before.Past, before.Cut
		return sameEnds(r, entryOf(before), before) && sameText(r, next)
	}
	was := before.Past[at-1]
	more := r.Reached > was.Reached || entryOf(r).Ended == Promoted && was.Ended != Promoted
	return !more && sameEnds(r, was, before) && remembers(r.Past, before.Past[at:], before.Cut)
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
	from := sameVersion(is.From, was.From) || restored && fromKnown(is.From, before)
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

func sameVersion(a, b Version) bool {
	return a.Revision == b.Revision && slices.Equal(a.Images, b.Images) && slices.Equal(a.InitImages, b.InitImages)
}

// LeadsBetween tells whether a record that begins after another one leads from what an overlay was to what it is, as far as that
// record does not know the versions: by nothing but their images they are made again, once they are gone.
func LeadsBetween(r, before Record, was, is *knative.State) bool {
	if Position(before, r.Promotion) >= 0 {
		return true
	}
	fits := func(v Version, state *knative.State) bool {
		has, _ := known(v, before)
		return has || len(v.AllImages()) == 0 || v.SameImages(state)
	}
	_, toIsKnown := known(r.To, before)
	onlyTraffic := r.RollsBack() && !toIsKnown && r.To.Revision != is.Revision()
	return fits(r.From, was) && (onlyTraffic || fits(r.To, is))
}

// fromKnown tells whether a version has the images that a record knows of its revision. Of another one nothing tells, nor of
// one that Knative has named: a Service that was made anew has others of these names.
func fromKnown(from Version, by Record) bool {
	fits, is := known(from, by)
	return fits || !is || knative.Generated(from.Revision)
}

// known tells whether a record has a version, and whether it has its revision.
func known(v Version, by Record) (fits, is bool) {
	for _, e := range by.Entries() {
		for _, has := range []Version{e.To, e.From} {
			fits = fits || sameVersion(has, v)
			is = is || has.Revision == v.Revision
		}
	}
	return fits, is
}
