package record

import (
	"slices"
	"time"

	"github.com/acme/knative-promote/gitops/knative"
)

// sameImages tells whether two versions have the same images.
func sameImages(a, b Version) bool {
	return slices.Equal(a.Images, b.Images) && slices.Equal(a.InitImages, b.InitImages)
}

// ImagesSince is when the first promotion began that gave the overlay the images which it has by
// its record, however often it has had others since. Zero: they were there before the oldest
// entry, as far as that tells.
func (r Record) ImagesSince() time.Time {
	ledHere := ledTo(r)
	if len(ledHere) == 0 {
		return time.Time{}
	}
	images := ledHere[0].To
	var since time.Time
	entries := r.Entries()
	for i, e := range entries {
		if e.Rollback || !sameImages(e.To, images) {
			continue
		}
		since = e.Started
		if sameImages(e.From, images) || r.Cut && i == len(entries)-1 {
			since = time.Time{} // unless an older entry tells
		}
	}
	return since
}

// OwnImages are the promotions, newest first, that gave the overlay images which it has by its
// record or had before those, and that took them from no environment of a list: what people
// have decided for this one, whatever those have. Of one image with several configurations it
// is the first. Where older entries were cut off, it may be the oldest that is left.
func (r Record) OwnImages(from []string) (own []Entry) {
	ledHere := ledTo(r)
	for i, e := range ledHere {
		last := i == len(ledHere)-1
		begun := !last && !sameImages(ledHere[i+1].To, e.To) || last && (r.Cut || !sameImages(e.From, e.To))
		if begun && !slices.Contains(from, e.TakenFrom) {
			own = append(own, e)
		}
	}
	return own
}

// HasImagesOf tells whether the overlay has the images of an entry by its record.
func HasImagesOf(r Record, e Entry) bool {
	ledHere := ledTo(r)
	return len(ledHere) > 0 && sameImages(ledHere[0].To, e.To)
}

// ledTo are the promotions that led to what a record has, each from what the next one in the
// list led to.
func ledTo(r Record) (all []Entry) {
	for left := standing(r.Entries(), r.Cut); len(left) > 0; {
		last := left[len(left)-1]
		all = append(all, last)
		left = upTo(left[:len(left)-1], last.From.Revision)
	}
	return all
}

// SetByHand tells whether somebody has set other images in an overlay than the recorded
// promotion or rollback has left there.
func SetByHand(r Record, state *knative.State) bool {
	left, before := r.To, r.From
	if r.Step == Restore {
		left, before = before, left
	}
	stays := r.RollsBack() && r.TemplateStays(state)
	return r.Exists() && !stays && !left.KeptBy(state, before)
}

// TakenAway is the revision that the recorded promotion gave traffic to, and that somebody
// has taken all of it from in Git, without a rollback; empty: it has some, or never had.
func TakenAway(r Record, place Place, split knative.Split) string {
	if !r.Exists() || r.RollsBack() || r.Percent == 0 || split.Candidate != "" || split.Stable == "" || split.Stable == r.To.Revision || r.Disagreement(place, split) == "" {
		return ""
	}
	return r.To.Revision
}
