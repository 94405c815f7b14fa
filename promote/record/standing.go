package record

import (
	"cmp"
	"slices"
	"time"
)

// Earlier are the versions that had all traffic before a revision, newest first,
// each once, with the commit that has the overlay of each as base. What came to
// 100 % and never passed is not among them.
func Earlier(entries []Entry, cut bool, revision string) (all []Entry, sure bool) {
	seen := map[string]bool{revision: true}
	left, sure := leadingTo(entries, cut, revision)
	for len(left) > 0 {
		last := left[len(left)-1]
		was := last.From.Revision
		left = upTo(left[:len(left)-1], was)
		passed := len(left) == 0 || left[len(left)-1].Ended == Promoted
		if passed && was != "" && !seen[was] {
			all = append(all, Entry{From: last.From, Base: last.Base})
			seen[was] = true
		}
	}
	return all, sure
}

// leadingTo are the promotions that led to a revision which has the traffic now,
// the oldest first; none where the record has none. Where older entries were cut
// off, that is not sure.
func leadingTo(entries []Entry, cut bool, revision string) (left []Entry, sure bool) {
	left = upTo(standing(entries, cut), revision)
	if len(left) > 0 || cut {
		return left, len(left) > 0
	}
	i := slices.IndexFunc(entries, func(e Entry) bool {
		return !e.Rollback && e.To.Revision == revision && e.From.Revision != revision
	})
	if i < 0 || !elsewhere(entries) {
		return nil, true
	}
	return entries[i : i+1], true
}

// standing are the promotions of a record that still count, the oldest first. A
// revision may have been promoted several times, so what has been rolled back does
// not count: a rollback takes promotions off the end, and so does one that begins
// from what was there before them. Where older entries were cut off, nothing stands
// that a promotion or rollback went past.
func standing(entries []Entry, cut bool) (all []Entry) {
	for _, e := range slices.Backward(entries) {
		switch {
		case e.Rollback:
			all = upTo(all, e.To.Revision)
		case e.Ended != RolledBack:
			if left := upTo(all, e.From.Revision); len(left) > 0 || cut {
				all = left
			}
			if e.From.Revision != e.To.Revision { // it moved something
				all = append(all, e)
			}
		}
	}
	return all
}

// elsewhere tells whether the last rollback went to what no promotion that still
// counted then began from or led to.
func elsewhere(entries []Entry) bool {
	i := slices.IndexFunc(entries, func(e Entry) bool { return e.Rollback })
	if i < 0 {
		return false
	}
	before, to := standing(entries[i+1:], false), entries[i].To.Revision
	return len(upTo(before, to)) == 0 && (len(before) == 0 || before[0].From.Revision != to)
}

// upTo are the promotions up to the last one to a revision.
func upTo(standing []Entry, revision string) []Entry {
	for len(standing) > 0 && standing[len(standing)-1].To.Revision != revision {
		standing = standing[:len(standing)-1]
	}
	return standing
}

// RestoredBy is what a promotion is rolled back to that began from is. Where what it
// began from had come to 100 % itself and had never passed, it is what was there before.
func (r Record) RestoredBy(promotion string, is Entry) Entry {
	entries := r.Entries()
	if r.Promotion == promotion {
		entries = r.Past
	}
	if left := upTo(standing(entries, r.Cut), is.From.Revision); len(left) > 0 && left[len(left)-1].Ended != Promoted {
		if good, _ := Earlier(entries, r.Cut, is.From.Revision); len(good) > 0 {
			return good[0]
		}
	}
	return is
}

// LeftFor is the promotion or rollback by which users last left another revision for the one
// that has all traffic, and when that was over, however many have stayed at 0 % since; the zero
// Entry: users came to have it by a promotion, or nothing tells. Users also leave what is
// superseded before it has passed: with the first commit of the next one, or where that fails;
// and what the revision was promoted over again that they had had before.
func LeftFor(entries []Entry, revision string) (Entry, time.Time) {
	for i, e := range entries {
		switch {
		case e.To.Revision == revision && i+1 < len(entries) && turnsBack(e, entries[i+1]):
			return e, overBy(entries, i)
		case e.Rollback && e.To.Revision == revision, e.failed() && e.Reached > 0 && e.From.Revision == revision:
			return e, overBy(entries, i)
		case i > 0 && e.Ended == Superseded && e.Reached > 0 && e.To.Revision != revision:
			return entries[i-1], overBy(entries, i-1)
		case e.Reached > 0:
			return Entry{}, time.Time{}
		}
	}
	return Entry{}, time.Time{}
}

// turnsBack tells whether a promotion gave users what the one before had taken from them, or was
// about to take.
func turnsBack(e, before Entry) bool {
	switch {
	case e.Ended != Promoted || before.Rollback || e.To.Revision != before.From.Revision || before.To.Revision == before.From.Revision:
		return false
	case before.Ended == Superseded:
		return before.Reached > 0
	}
	return before.Ended == Promoted && e.From.Revision == before.To.Revision
}

// overBy is when an entry had ended, as far as that is known: at the latest when the next began.
func overBy(entries []Entry, i int) time.Time {
	next := entries[max(i-1, 0)].Started
	return cmp.Or(entries[i].Passed, next)
}

// LeftByTakingOut is the promotion that users have left for a revision by what was taken out of Git: the newest one that had
// given them anything, of those that a record from before has, down to the one that began from the revision, and that the
// record now has no more; the zero Entry: they have not come to it by that, or by neither record what they have come to has
// passed. The note that it has may have been taken out too.
func LeftByTakingOut(then, now Record, revision string) (left Entry) {
	passed := func(e Entry) bool { return e.Promotion == now.Promotion && e.Ended == Promoted }
	if !now.HasPassed() && !slices.ContainsFunc(then.Entries(), passed) {
		return Entry{}
	}
	for _, e := range then.Entries() {
		if Position(now, e.Promotion) >= 0 {
			break
		}
		if left.Promotion == "" && e.Reached > 0 {
			left = e
		}
		if left.Promotion != "" && e.From.Revision == revision {
			return left
		}
	}
	return Entry{}
}

// LastMove is the newest entry that has given users anything; the zero Entry: none has.
func LastMove(entries []Entry) Entry {
	for _, e := range entries {
		if e.Reached > 0 {
			return e
		}
	}
	return Entry{}
}
