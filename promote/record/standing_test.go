package record

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLastTo names where the next rollback goes after promotions (a>b), failed
// ones (a!b), those that something newer has superseded (a?b) and rollbacks (a<b,
// from a to b), oldest first.
func TestLastTo(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ happened, at, want string }{
		{"1>2", "2", "1"},
		{"1>2 2>3", "3", "2"},
		{"1>2 2>3 3<2", "2", "1"},
		{"1>2 2!3", "2", "1"},
		{"1>2 2>3 3>2", "2", "3"},
		{"1>2 2>3 3>2 2<3", "3", "2"},
		{"1>2 2>3 3>2 2<3 3<2", "2", "1"},
		{"1>2 2>1 1<2", "2", "1"},
		{"1>2 2>1 1<2 2<1", "1", ""},
		{"1>2 2>3 3<1", "1", ""},
		{"1>2 2>2", "2", "1"},
		{"1>2 2>3 3<2 2<3", "3", "2"},
		{"1>2 2<1 1>3 3<1", "1", ""},
		{"1>2 2?3 2>2", "2", "1"},
		{"1>2 2?3 2>4", "4", "2"},
		{"1>2 2?3 2>4 4<2", "2", "1"},
		{"1>2 2?3 3>4", "4", "2"},
		{"", "1", ""},
	} {
		var entries []Entry
		for _, word := range strings.Fields(test.happened) {
			e := Entry{Ended: Promoted, From: Version{Revision: word[:1]}, To: Version{Revision: word[2:]}}
			switch word[1] {
			case '?':
				e.Ended = Superseded
			case '!':
				e.Ended = RolledBack
			case '<':
				e.Ended, e.Rollback = RolledBack, true
			}
			entries = append([]Entry{e}, entries...)
		}
		got := ""
		if versions, _ := Earlier(entries, false, test.at); len(versions) > 0 {
			got = versions[0].From.Revision
		}
		if got != test.want {
			t.Errorf("after %s, at %s: back to %q, want %q", test.happened, test.at, got, test.want)
		}
	}
}

// TestLeftFor names what users left last, by its number, and when that was over, after promotions
// (a>b), those that failed at 50 % (a%b) and at 0 % (a!b), that the next one has superseded at
// 50 % (a?b) and at 0 % (a-b), and rollbacks (a<b), oldest first. Each begins an hour after the
// one before, and has passed half an hour later, but for those with a dot.
func TestLeftFor(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		happened, at string
		want         int
		over         float64
	}{
		{"1>2", "2", -1, 0},
		{"1>2 2<1", "1", 1, 1.5},
		{"1>2 2<1", "2", -1, 0}, // somebody has moved the traffic by hand since
		{"1>2 2%3", "2", 1, 1.5},
		{"1>2 2!3", "2", -1, 0},
		{"1>2 2>3 3<2 2!4 2!5", "2", 2, 2.5},
		{"1>2 2%3. 2!4", "2", 1, 2},
		{"1>2 2<1.", "1", 1, 1},
		{"1>2 2?3 2!4", "2", 2, 2.5},
		{"1>2 2?3 2-4 2!5", "2", 2, 2.5},
		{"1>2 2?3 3!4", "3", -1, 0},
		{"1>2 2?3 2>2", "2", 2, 2.5},
		{"1>2 2>3 3>2", "2", 2, 2.5},
		{"1>2 2>3 3>4 4>2", "2", -1, 0}, // by a promotion
		{"1>2 2<1 1>1", "1", -1, 0},
		{"1>2 2<1 1>2", "2", -1, 0}, // all the same
		{"1>2 2>3 3<2 2>4", "4", -1, 0},
		{"1>2 2>2", "2", -1, 0},
		{"1!2", "1", -1, 0},
	} {
		var entries []Entry
		for i, word := range strings.Fields(test.happened) {
			began := noon.Add(time.Duration(i) * time.Hour)
			e := Entry{Ended: Promoted, Reached: 100, From: Version{Revision: word[:1]}, To: Version{Revision: word[2:3]}, Started: began, Passed: began.Add(time.Hour / 2)}
			if strings.HasSuffix(word, ".") {
				e.Passed = time.Time{}
			}
			switch word[1] {
			case '?':
				e.Ended, e.Reached = Superseded, 50
			case '-':
				e.Ended, e.Reached = Superseded, 0
			case '%':
				e.Ended, e.Reached = RolledBack, 50
			case '!':
				e.Ended, e.Reached = RolledBack, 0
			case '<':
				e.Ended, e.Rollback = RolledBack, true
			}
			e.Promotion = strconv.Itoa(i)
			entries = append([]Entry{e}, entries...)
		}
		left, over := LeftFor(entries, test.at)
		got := -1
		if left.Promotion != "" {
			got, _ = strconv.Atoi(left.Promotion)
		}
		want := time.Time{}
		if test.want >= 0 {
			want = noon.Add(time.Duration(test.over * float64(time.Hour)))
		}
		if got != test.want || !over.Equal(want) {
			t.Errorf("after %s, at %s: left by %d, over by %s; want %d, %s", test.happened, test.at, got, over, test.want, want)
		}
	}
}

// TestLeftByTakingOut has what users left by going from one history to another one that somebody has put in its place. What
// stands as a?b has not passed, and a-b is a candidate.
func TestLeftByTakingOut(t *testing.T) {
	t.Parallel()
	record := func(happened string) (all Record) {
		for i, word := range strings.Fields(happened) {
			r := Record{Promotion: strconv.Itoa(i), Step: "100", Percent: 100, Reached: 100, From: Version{Revision: word[:1]}, To: Version{Revision: word[2:]}}
			switch word[1] {
			case '>':
				r.Passed = time.Unix(1, 0)
			case '-':
				r.Step, r.Percent, r.Reached = "candidate", 0, 0
			}
			all = r.Follow(all)
		}
		return all
	}
	for _, test := range []struct{ then, now, at, want string }{
		{"1>2 2>3", "1>2", "2", "3"},
		{"1>2 2>3 3>4", "1>2", "2", "4"},
		{"1>2 2>3 3-4", "1>2", "2", "3"},
		{"1>2 2-3", "1>2", "2", ""},
		{"1>2 2>3 3-4", "1>2 2>3", "3", ""},
		{"1>2 2>3", "1>2", "1", ""},
		{"1>2 2>3", "", "2", ""},
		{"1>2", "1>2", "1", ""},
		{"1>2 2>3", "1?2", "2", "3"}, // the note that it has passed is gone too
		{"1?2 2>3", "1?2", "2", ""},
	} {
		if got := LeftByTakingOut(record(test.then), record(test.now), test.at).To.Revision; got != test.want {
			t.Errorf("%s out of %s, at %s: left %q, want %q", test.now, test.then, test.at, got, test.want)
		}
	}
}
