package record

import (
	"strings"
	"testing"
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
