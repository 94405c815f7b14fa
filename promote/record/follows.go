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
	at := slices.IndexFunc(before.Entries(), func(e Entry) bool { return e.Promotion == r.Promotion })
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

// fromKnown tells whether a version has the images that a record knows of its revision. Of another one nothing tells, nor of
// one that Knative has named: a Service that was made anew has others of these names.
func fromKnown(from Version, by Record) bool {
	if knative.Generated(from.Revision) {
		return true
	}
	known := false
	for _, e := range by.Entries() {
		for _, v := range []Version{e.To, e.From} {
			if sameVersion(v, from) {
				return true
			}
			known = known || v.Revision == from.Revision
		}
	}
	return !known
}
