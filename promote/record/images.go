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

// ImagesSince is when the promotion had passed that gave the overlay the images which it has
// by its record: what came after it and was rolled back does not count. Zero: they were there
// before the oldest entry, as far as that tells.
func (r Record) ImagesSince() time.Time {
	ledHere := ledTo(r)
	for i, e := range ledHere {
		switch last := i == len(ledHere)-1; {
		case last && (r.Cut || sameImages(e.From, e.To)):
			return time.Time{}
		case last, !sameImages(ledHere[i+1].To, e.To):
			return e.Passed
		}
	}
	return time.Time{}
}

// OwnImages are the promotions, newest first, that gave the overlay the images which it has by
// its record and others before those, back to one that took them from another environment:
// what people have decided for this one alone. Of one image with several configurations it is
// the first. Where older entries were cut off, it may be the oldest that is left.
func (r Record) OwnImages() (own []Entry) {
	ledHere := ledTo(r)
	for i, e := range ledHere {
		last := i == len(ledHere)-1
		begun := !last && !sameImages(ledHere[i+1].To, e.To) || last && (r.Cut || !sameImages(e.From, e.To))
		switch {
		case begun && e.TakenFrom != "":
			return own
		case begun:
			own = append(own, e)
		}
	}
	return own
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
	left := r.To
	if r.Step == Restore {
		left = r.From
	}
	stays := r.RollsBack() && r.TemplateStays(state)
	return r.Exists() && !stays && !left.SameImages(state)
}

// TakenAway is the revision that the recorded promotion gave traffic to, and that somebody
// has taken all of it from in Git, without a rollback; empty: it has some, or never had.
func TakenAway(r Record, place Place, split knative.Split) string {
	if !r.Exists() || r.RollsBack() || r.Percent == 0 || split.Candidate != "" || split.Stable == "" || split.Stable == r.To.Revision || r.Disagreement(place, split) == "" {
		return ""
	}
	return r.To.Revision
}
