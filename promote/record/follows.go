package record

import (
	"bytes"
	"slices"
	"time"

	servingv1 "knative.dev/serving/pkg/apis/serving/v1"

	"github.com/acme/knative-promote/gitops/knative"
)

// Follows tells whether a record is what a run may write in the place of another one: it begins a promotion after that, or goes
// on with its promotion, or is none. Where a rollback leads goes by what came before, so nobody else may write that. That gates
// have passed it says only of the step that the other one has.
func Follows(r, before Record) bool {
	switch at := Position(before, r.Promotion); {
	case !r.Exists():
		return true
	case r.Reached < r.Percent, at > 0:
		return false
	case at < 0:
		return !r.HasPassed() && r.Unknown == "" && sameText(r, r.Follow(before))
	case sameStep(r, before):
		return sameStepAgain(r, before)
	}
	return goesOn(r, before)
}

func sameStep(a, b Record) bool { return a.Is(b.Promotion, b.Step) && a.Percent == b.Percent }

// skew is by how much the clocks of two machines may differ that have written one record.
const skew = time.Hour

// sameStepAgain tells whether a record says of a step what another one does, but for that its gates have passed, in whatever run.
// What rolls back may be made once more.
func sameStepAgain(r, before Record) bool {
	switch {
	case r.HasPassed() && !before.HasPassed() && !r.Passed.Add(skew).Before(before.Started):
		before.Passed, before.Commit, before.Run, before.Actor, before.Approved = r.Passed, r.Commit, r.Run, r.Actor, r.Approved
		return sameText(r, before)
	case r.HasPassed(), before.HasPassed(), !r.RollsBack():
		return sameText(r, before)
	}
	next := withStepOf(before, r)
	next.Gate = before.Gate
	return sameText(r, asRestored(next, r, before))
}

// goesOn tells whether a record is of another step of the same promotion.
func goesOn(r, before Record) bool {
	next := withStepOf(before, r)
	switch {
	case r.Reached > max(before.Reached, r.Percent), r.HasPassed(), r.Gate != "" && r.Step != Restore, (r.Step == Rollback) != (before.Step == Rollback):
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

// sameText tells whether two records are written the same.
func sameText(a, b Record) bool {
	one, errOne := a.Encode()
	other, errOther := b.Encode()
	return errOne == nil && errOther == nil && bytes.Equal(one, other)
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

// Knows tells whether a record has a version, by its name and its images.
func Knows(r Record, v Version) bool { return hasOne(r, v, sameVersion) }

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
