package record

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFollows has records that go on from others, and such as nobody but somebody else has written.
func TestFollows(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	numbered := func(happened string) (all Record) {
		for i, word := range strings.Fields(happened) {
			r := historyOf(word, began.Add(time.Duration(i)*time.Hour))
			r.Promotion, r.Reached, r.Base = fmt.Sprintf("%012d", i), r.Percent, fmt.Sprintf("%040d", i)
			if r.Step == Restore {
				r.Percent, r.Passed = 0, time.Time{}
			}
			all = r.Follow(all)
		}
		return all
	}
	for name, test := range map[string]struct {
		before, is string
		change     func(r *Record)
		want       bool
	}{
		"the next":               {"1>2 2>3", "1>2 2>3 3>4", nil, true},
		"the first":              {"", "1>2", nil, true},
		"a rollback":             {"1>2 2>3", "1>2 2>3 3<2", nil, true},
		"the same":               {"1>2 2>3", "1>2 2>3", nil, true},
		"the same, passed again": {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Passed = r.Passed.Add(time.Hour) }, false},
		"restored to another":    {"1>2 2>3", "1>2 2!3", func(r *Record) { r.From = Version{Revision: "2b", Images: []string{"2"}} }, true},
		"restored further": {"1>2 2>3", "1>2 2!3", func(r *Record) {
			r.From, r.Base = Version{Revision: "1", Images: []string{"1"}}, fmt.Sprintf("%040d", 0)
		}, true},
		"restored to somebody's":     {"1>2 2>3", "1>2 2!3", func(r *Record) { r.Base = strings.Repeat("c", 40) }, false},
		"a revert of that":           {"1>2 2>3", "1>2 2>3 3<2", nil, true},
		"a generated name":           {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.From = Version{Revision: "s-00001", Images: []string{"9"}} }, true},
		"one too many":               {"1>2 2>3", "1>2 2>3 3>4 4>5", nil, false},
		"a past of its own":          {"", "1>2 2>3", nil, false},
		"cut":                        {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.Cut = true }, false},
		"fewer":                      {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.Past = r.Past[:1] }, false},
		"an image":                   {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.Past[1].From.Images = []string{"9"} }, false},
		"an end":                     {"1>2 2!3", "1>2 2!3 2>4", func(r *Record) { r.Past[0].Ended = Promoted }, false},
		"a base":                     {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.Past[0].Base = strings.Repeat("c", 40) }, false},
		"a later run of the same":    {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Run = "https://example.com/acme/infra/actions/runs/2" }, false},
		"approved, of the same":      {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Approved = "the-ceo" }, false},
		"restored from elsewhere":    {"1>2 2>3", "1>2 2!3", func(r *Record) { r.From = Version{Revision: "2b", Images: []string{"9"}} }, false},
		"begun, and passed at once":  {"1>2 2>3", "1>2 2>3 3>4", func(r *Record) { r.Passed = r.Started }, false},
		"the note taken out":         {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Passed, r.Commit, r.Run = time.Time{}, "", "1" }, false},
		"reverted":                   {"1>2 2>3 3>4", "1>2 2>3", nil, false},
		"taken out":                  {"1>2 2>3", "", nil, true},
		"with its gate":              {"1>2 2!3", "1>2 2!3", func(r *Record) { r.Gate = "" }, false},
		"with what it is of":         {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Passed, r.Code.Commit = time.Time{}, "x" }, false},
		"taken from elsewhere":       {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Source.Overlay = "staging" }, false},
		"restored to another's name": {"1>2 2>3", "1>2 2!3", func(r *Record) { r.From = Version{Revision: "3", Images: []string{"2"}} }, false},
		"turned into a rollback":     {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Step, r.Passed = Rollback, time.Time{} }, false},
		"of the same":                {"1>2 2>3", "1>2 2>3", func(r *Record) { r.From.Images = []string{"9"} }, false},
		"to of the same":             {"1>2 2>3", "1>2 2>3", func(r *Record) { r.To.Images = []string{"9"} }, false},
		"base of the same":           {"1>2 2>3", "1>2 2>3", func(r *Record) { r.Base = strings.Repeat("c", 40) }, false},
		"restored to its image":      {"1>2 2>3", "1>2 2!3", func(r *Record) { r.From.Images = []string{"9"} }, false},
	} {
		before, is := numbered(test.before), numbered(test.is)
		if Position(before, is.Promotion) < 0 {
			is.Passed = time.Time{} // which begins
		}
		if test.change != nil {
			test.change(&is)
		}
		if got := Follows(is, before); got != test.want {
			t.Errorf("%s: follows: %t", name, got)
		}
	}
}

// TestFollowsWithTheNote has gates of the last step that have passed since, and such as have passed before it began.
func TestFollowsWithTheNote(t *testing.T) {
	t.Parallel()
	is := historyOf("1>2", time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC))
	is.Promotion, is.Reached, is.Base = strings.Repeat("a", 12), is.Percent, strings.Repeat("c", 40)
	before := is
	before.Passed = time.Time{}
	for after, want := range map[time.Duration]bool{time.Hour: true, -time.Hour: true, -time.Hour - time.Second: false} {
		if is.Passed = is.Started.Add(after); Follows(is, before) != want {
			t.Errorf("passed after %s: follows: %t", after, !want)
		}
	}
}
