package windows

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// times are when a window is active.
type times interface {
	active(at time.Time) bool
	// stays is up to when active surely stays what it is at a time; zero: for good.
	stays(at time.Time) time.Time
	String() string
}

// once is one time, from its beginning on and before its end.
type once struct{ from, until time.Time }

func (o once) active(at time.Time) bool { return !at.Before(o.from) && at.Before(o.until) }

func (o once) stays(at time.Time) time.Time {
	switch {
	case at.Before(o.from):
		return o.from
	case at.Before(o.until):
		return o.until
	}
	return time.Time{}
}

// String is the time for people, with the zone's whole name: CST is that of two zones.
func (o once) String() string {
	text := Format(o.from) + " until " + Format(o.until)
	if zone := o.from.Location(); zone != time.UTC {
		text += ", time zone " + zone.String()
	}
	return text
}

// recurring is every time that begins as cron says, in a zone, and lasts for as
// long. Times may overlap.
type recurring struct {
	text     string // of the schedule
	schedule cron.Schedule
	length   time.Duration
	zone     *time.Location
}

// active looks for a beginning that is not longer ago than the length.
func (r recurring) active(at time.Time) bool {
	begins := r.begins(at.Add(-r.length))
	return !begins.IsZero() && !begins.After(at)
}

func (r recurring) stays(at time.Time) time.Time {
	if !r.active(at) {
		return r.begins(at)
	}
	end := r.begins(at.Add(-r.length)).Add(r.length)
	if next := r.begins(at); !next.IsZero() && !next.After(end) {
		end = next.Add(r.length)
	}
	return end
}

// begins is the first beginning after a time; zero: there is none in the five
// years that the schedule looks through.
//
// The schedule is asked about what the clocks show, as if that were UTC: in a
// zone it leaves out what the clocks skip
// (https://pkg.go.dev/github.com/robfig/cron/v3#hdr-Time_zones), so that a freeze
// from 2:30 on would not begin at all in the night in which it becomes 3:00 after
// 1:59.
func (r recurring) begins(after time.Time) time.Time {
	for wall := wallOf(after, r.zone); ; {
		if wall = r.schedule.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if at := instant(wall, r.zone); at.After(after) { // else the clocks show it a second time
			return at
		}
	}
}

// String is the schedule for people.
func (r recurring) String() string {
	return fmt.Sprintf("%q for %s, time zone %s", r.text, r.length, r.zone)
}

// wallOf is what the clocks of a zone show at a time, as if that were UTC.
func wallOf(at time.Time, zone *time.Location) time.Time {
	at = at.In(zone)
	return time.Date(at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond(), time.UTC)
}

// instant is when the clocks of a zone show something for the first time; where
// they skip it, when they jump over it.
func instant(wall time.Time, zone *time.Location) time.Time {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), zone)
	begin, end := near.ZoneBounds()
	var first time.Time
	for _, other := range []time.Time{begin.Add(-time.Second), near, end} { // time.Date does not say which of two it takes
		_, offset := other.In(zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if wallOf(at, zone).Equal(wall) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	switch {
	case !first.IsZero():
		return first
	case wallOf(near, zone).After(wall):
		return begin
	}
	return end
}
