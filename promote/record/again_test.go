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
		at := began.Add(time.Duration(i) * time.Hour)
		version := func(name string) Version { return Version{Revision: name, Images: []string{strings.ToLower(name)}} }
		e := Entry{Ended: Promoted, From: version(word[:1]), To: version(word[2:]), Started: at, Passed: at.Add(time.Minute)}
		switch word[1] {
		case '+':
			e.TakenFrom = "staging"
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
	r := Record{Source: Source{Overlay: first.TakenFrom}, Promotion: "1", Step: "100", Percent: 100, To: first.To, From: first.From, Started: first.Started, Passed: first.Started, Gate: first.Gate, Past: entries[1:]}
	switch {
	case first.Rollback:
		r.Step = Rollback
	case first.Ended == RolledBack:
		r.Step = Restore
	}
	return r
}

// TestAgain has what must not be promoted here again by itself, as it was rolled back last.
func TestAgain(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		happened, revision string
		withdrawn          bool
	}{
		{"1>2 2>3 3<2", "3", true},
		{"1>2 2>3 3<2", "2", false},
		{"1>2 2!3", "3", true},
		{"1>2 2#3", "3", false}, // cancelled
		{"1>2 2>3", "2", false},
		{"0>1 1>2 2>2 2>3 3!2", "2", true},
		{"0>1 1>2 2>2 2>3 3>2 2>2", "2", false},
	} {
		if got := historyOf(test.happened, time.Now()).Withdrew(test.revision); got != test.withdrawn {
			t.Errorf("after %s, withdrawn %s: %t", test.happened, test.revision, got)
		}
	}
}

// TestImages has since when an overlay has had its images, in hours after the beginning, and
// which promotions gave it those and the ones before them for itself. A revision and the same
// letter in the other case have one image and two configurations; what a + leads to was taken
// from another environment.
func TestImages(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	const unknown = -1
	for _, test := range []struct {
		happened string
		cut      bool
		since    int
		own      string
	}{
		{"a>b", false, 0, "b"},
		{"a+b", false, 0, ""},
		{"a>b b>B", false, 0, "b"},         // a configuration
		{"a>A", false, unknown, ""},        // of what was there before
		{"a>b b>c", false, 1, "c b"},       // two hotfixes
		{"a+b b>c", false, 1, "c"},         // one
		{"a>b b+c", false, 1, "b"},         // before what staging had
		{"a>b b>c c<b", false, 0, "b"},     // the second one was rolled back
		{"a>b b>c c<b b>B", false, 0, "b"}, // and a configuration came after that
		{"a>b b!c", false, 0, "b"},         // failed
		{"a>b b>c c>b", false, 0, "b c b"}, // promoted again
		{"a>b b<a", false, unknown, ""},    // what was there before all
		{"a?b a>c", false, 1, "c"},         // over what was held
		{"a>A A>a", true, unknown, "A"},    // nobody can tell who brought a, and when
		{"a>b b>B", true, unknown, "b"},    //
		{"b+B B>b", true, unknown, ""},     // taken from elsewhere as far as anybody can tell
	} {
		r := historyOf(test.happened, began)
		r.Cut = test.cut
		since := unknown
		if at := r.ImagesSince(); !at.IsZero() {
			since = int(at.Sub(began) / time.Hour)
		}
		var own []string
		for _, e := range r.OwnImages([]string{"staging"}) {
			own = append(own, e.To.Revision)
		}
		if since != test.since || strings.Join(own, " ") != test.own {
			t.Errorf("after %s, cut %t: since %d, own %q; want %d, %q", test.happened, test.cut, since, strings.Join(own, " "), test.since, test.own)
		}
	}
}
