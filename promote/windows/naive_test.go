package windows

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// zones are some that set their clocks, by how much and when they like.
var zones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/St_Johns", "Antarctica/Troll",
	"Asia/Kathmandu", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo", "Asia/Beirut",
}

// A recurrence is a window of which a naive reader keeps the fields of cron as
// sets.
type recurrence struct {
	minute, hour, day, month, weekday map[int]bool // nil: all
	minutes                           int          // how long it lasts
	zone                              *time.Location
}

func (r recurrence) begins(wall time.Time) bool {
	in := func(set map[int]bool, value int) bool { return set == nil || set[value] }
	day := in(r.day, wall.Day()) && in(r.weekday, int(wall.Weekday()))
	if r.day != nil && r.weekday != nil { // cron's rule where both are given
		day = r.day[wall.Day()] || r.weekday[int(wall.Weekday())]
	}
	return in(r.minute, wall.Minute()) && in(r.hour, wall.Hour()) && in(r.month, int(wall.Month())) && day
}

// active has for each minute from a time on whether the window is active, by
// looking at the clocks in each: one that is skipped begins when it is seen to
// be over, and one that is seen again has begun already.
func (r recurrence) active(from time.Time, count int) []bool {
	active := make([]bool, count)
	latest := wallOf(from.Add(-time.Duration(r.minutes)*time.Minute), r.zone).Add(-time.Minute)
	for i, left := -r.minutes, 0; i < count; i++ {
		wall := wallOf(from.Add(time.Duration(i)*time.Minute), r.zone)
		for ; latest.Before(wall); latest = latest.Add(time.Minute) {
			if r.begins(latest.Add(time.Minute)) {
				left = r.minutes
			}
		}
		if left > 0 && i >= 0 {
			active[i] = true
		}
		left--
	}
	return active
}

// some is a few values of a field, or nil for all.
func some(random *rand.Rand, low, high int) map[int]bool {
	if random.IntN(2) == 0 {
		return nil
	}
	set := map[int]bool{}
	for range 1 + random.IntN(4) {
		set[low+random.IntN(high-low+1)] = true
	}
	return set
}

func inCron(set map[int]bool) string {
	var values []string
	for value := range set {
		values = append(values, fmt.Sprint(value))
	}
	if len(values) == 0 {
		return "*"
	}
	return strings.Join(values, ",")
}

func (r recurrence) entry() string {
	return fmt.Sprintf("  - {cron: '%s %s %s %s %s', duration: %dm, timezone: %s}\n",
		inCron(r.minute), inCron(r.hour), inCron(r.day), inCron(r.month), inCron(r.weekday), r.minutes, r.zone)
}

func anyRecurrence(random *rand.Rand) recurrence {
	zone, err := time.LoadLocation(zones[random.IntN(len(zones))])
	if err != nil {
		panic(err)
	}
	r := recurrence{minute: some(random, 0, 59), hour: some(random, 0, 4), weekday: some(random, 0, 6), minutes: 1 + random.IntN(200), zone: zone}
	if random.IntN(4) == 0 {
		r.day, r.month = some(random, 1, 28), some(random, 1, 12)
	}
	if random.IntN(8) == 0 {
		r.minutes += 2000
	}
	return r
}

// anyChange is a time at which the clocks of a zone are set, if they are.
func anyChange(random *rand.Rand, zone *time.Location) time.Time {
	at := time.Date(2011+random.IntN(20), time.Month(1+random.IntN(12)), 1+random.IntN(28), 0, 0, 0, 0, time.UTC)
	if _, change := at.In(zone).ZoneBounds(); !change.IsZero() {
		return change
	}
	return at
}

// TestAtNaively compares files, around the times at which clocks are set, with
// what one gets by looking at the clocks minute by minute.
func TestAtNaively(t *testing.T) {
	t.Parallel()
	const minutes = 2 * 24 * 60
	changes := 0
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 13))
		file := map[string]string{}
		from, open := time.Time{}, make([]bool, minutes)
		for i := range open {
			open[i] = true
		}
		for i, list := range []string{"allow", "exclude", "exclude"}[random.IntN(2):] {
			r := anyRecurrence(random)
			if i == 0 {
				from = anyChange(random, r.zone).Truncate(time.Minute).Add(-time.Duration(random.IntN(minutes)) * time.Minute)
			}
			file[list] += r.entry()
			for i, active := range r.active(from, minutes) {
				open[i] = open[i] && active == (list == "allow")
			}
		}
		text := "exclude:\n" + file["exclude"]
		if file["allow"] != "" {
			text += "allow:\n" + file["allow"]
		}
		changes += compareNaively(t, text, from, open)
	}
	if changes < 1000 {
		t.Errorf("only %d changes were compared: expected 1000 at least", changes)
	}
}

// compareNaively looks at each minute whether a file agrees, and a little before
// and after each change at when it says that this comes.
func compareNaively(t *testing.T, file string, from time.Time, open []bool) (changes int) {
	t.Helper()
	schedule := parse(t, file)
	schedule.zone = time.UTC
	mine := schedule.of("", Environment{Own: []string{""}})
	last := 0
	for i := range open {
		at := from.Add(time.Duration(i) * time.Minute)
		if got := len(mine.closed(at)) == 0; got != open[i] {
			t.Fatalf("%sat %s open is %t, want %t", file, at.UTC(), got, open[i])
		}
		if i == 0 || open[i] == open[i-1] {
			continue
		}
		changes++
		for _, before := range []time.Duration{time.Nanosecond, time.Minute, at.Sub(from.Add(time.Duration(last) * time.Minute))} {
			if got := schedule.At(at.Add(-before), "", Environment{}).Next; !got.Equal(at) {
				t.Fatalf("%s%s before it the change at %s is at %s", file, before, at.UTC(), got)
			}
		}
		last = i
	}
	return changes
}
