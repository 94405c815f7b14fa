package record

import (
	"strings"
	"testing"
	"time"
)

// historyOf is the record after what has happened, an hour each, in the words of [TestLastTo];
// a#b was cancelled and restored, without a gate that failed.
func historyOf(happened string, began time.Time) Record {
	var entries []Entry
	for i, word := range strings.Fields(happened) {
		e := Entry{Ended: Promoted, From: Version{Revision: word[:1]}, To: Version{Revision: word[2:]}, Started: began.Add(time.Duration(i) * time.Hour)}
		switch word[1] {
		case '?':
			e.Ended = Superseded
		case '!':
			e.Ended, e.Gate = RolledBack, "slo"
		case '#':
			e.Ended = RolledBack
		case '<':
			e.Ended, e.Rollback = RolledBack, true
		}
		entries = append([]Entry{e}, entries...)
	}
	first := entries[0]
	r := Record{Promotion: "1", Step: "100", Percent: 100, To: first.To, From: first.From, Started: first.Started, Passed: first.Started, Gate: first.Gate, Past: entries[1:]}
	switch {
	case first.Rollback:
		r.Step = Rollback
	case first.Ended == RolledBack:
		r.Step = Restore
	}
	return r
}

// TestAgain has what must not be promoted here again by itself: what was rolled back last,
// and what something newer has replaced since its source has had it, two hours after the
// beginning.
func TestAgain(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		happened, revision string
		withdrawn          bool
		replaced           string
	}{
		{"1>2", "2", false, ""},
		{"1>2 2>3 3<2", "3", true, "2"},
		{"1>2 2>3 3<2", "2", false, ""},
		{"1>2 2!3", "3", true, ""},
		{"1>2 2#3", "3", false, ""},
		{"1>2 2>3", "2", false, ""},                  // the source has had 2 after that
		{"0>1 1>2 2>2 2>3", "2", false, "3"},         // a hotfix of what it had
		{"0>1 1>2 2?3 3>4", "3", false, "4"},         // over what was held
		{"0>1 1>2 2>2 2!3", "2", false, ""},          // what failed has replaced nothing
		{"0>1 1>2 2>2 2>3 3>4", "2", false, "4"},     // two of them
		{"0>1 1>2 2>2 2>3 3>4 4<3", "2", false, "3"}, // a second hotfix was rolled back to the first
		{"0>1 1>2 2>2 2>3 3<2", "2", false, ""},      // and it was rolled back
		{"0>1 1>1 1>1 1>3", "2", false, ""},          // it was never here
		{"0>1 1>2 2>2 2>3 3!2", "2", true, "3"},      // as somebody has tried
		{"0>1 1>2 2>2 2>3 3#2", "2", false, "3"},     //
		{"0>1 1>2 2>2 2>3 3>2 2>2", "2", false, ""},  // and promoted again
	} {
		r := historyOf(test.happened, began)
		is := func(v Version) bool { return v.Revision == test.revision }
		if got := r.Withdrew(test.revision); got != test.withdrawn {
			t.Errorf("after %s, withdrawn %s: %t", test.happened, test.revision, got)
		}
		if got := replacedSince(r.Entries(), is, began.Add(2*time.Hour)); got != test.replaced {
			t.Errorf("after %s, %s was replaced by %q, want %q", test.happened, test.revision, got, test.replaced)
		}
	}
}
