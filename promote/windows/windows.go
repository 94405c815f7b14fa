// Package windows says when a Service may be given more traffic: a file of the
// infra repository allows times, excludes times and stops the line. It is pure:
// the file comes as bytes and the time as a value.
//
//	timezone: Europe/Berlin
//	allow:
//	  - {cron: "0 9 * * 1-5", duration: 8h, environments: [production]}
//	exclude:
//	  - {from: 2026-12-18T00:00, until: 2027-01-04T00:00, description: year's end}
//	stop: {reason: incident 4711, by: alice, since: 2026-11-22T14:10Z}
//
// What closes wins: it is closed while the line is stopped, during every time
// that is excluded, and, where any times are allowed, outside of all of these.
// What names environments or services concerns no others.
//
// The lists are those of GitOps Promoter's ScheduledCommitStatus
// (https://gitops-promoter.readthedocs.io/), and from and until say what cron
// cannot, a time of one year.
package windows

import (
	"fmt"
	"slices"
	"time"
)

// A Schedule is what a file says. The zero Schedule is always open.
type Schedule struct {
	zone    *time.Location // in which times are shown
	stop    *stop          // nil: the line is not stopped
	allow   []window
	exclude []window

	outside bool // whether a run may override that no allowed time is on
}

// A stop keeps everything from getting more traffic until it is taken out of
// the file.
type stop struct {
	scope
	line     int
	reason   string
	by       string
	since    time.Time // for people; zero: not said
	override bool
}

// A window is one or many times that are allowed or excluded.
type window struct {
	scope
	line        int
	description string
	override    bool
	times       times
}

// A scope is what something is about; an empty list is all of them.
type scope struct{ environments, services []string }

func (s scope) concerns(service string, environments []string) bool {
	named := func(environment string) bool { return slices.Contains(s.environments, environment) }
	return (len(s.environments) == 0 || slices.ContainsFunc(environments, named)) &&
		(len(s.services) == 0 || slices.Contains(s.services, service))
}

// A State is whether a Service of an environment may be given more traffic.
type State struct {
	Closed []Cause   // all that closes it; none: it is open
	Next   time.Time // when it opens or closes next, in the file's time zone; zero: not as far as one can see
}

// Open tells whether nothing closes it.
func (s State) Open() bool { return len(s.Closed) == 0 }

// Overridable tells whether all that closes it may be overridden by a run that
// says why.
func (s State) Overridable() bool {
	return !slices.ContainsFunc(s.Closed, func(c Cause) bool { return !c.Override })
}

// A Cause is one thing that closes.
type Cause struct {
	Line     int    // in the file, from 1
	Text     string // what it is, for people
	Override bool   // whether a run may override it
}

// String is the text with the line.
func (c Cause) String() string { return fmt.Sprintf("%s (line %d)", c.Text, c.Line) }

// An Environment is what an environment is called.
type Environment struct {
	Own   []string // by its folder, and by the pipeline file
	Added string   // by who starts a run; it opens nothing
}

// At is the state of a Service at a time. Where times are allowed for several names of its environment, one of each has to be on.
func (s Schedule) At(now time.Time, service string, environment Environment) State {
	mine := s.of(service, environment)
	if s.stop != nil && s.stop.concerns(service, environment.names()) {
		return State{Closed: append([]Cause{s.stop.cause()}, mine.closed(now)...)} // a person ends it, not the time
	}
	state := State{Closed: mine.closed(now)}
	if next := mine.next(now, state.Open()); !next.IsZero() {
		state.Next = next.In(s.zone)
	}
	return state
}

func (e Environment) names() []string { return append(slices.Clone(e.Own), e.Added) }

// of is what it says of a Service of an environment. Times for no environment by name are for each name; of an
// environment's own names, those that no times name count only where there are no others.
func (s Schedule) of(service string, environment Environment) concerning {
	names := environment.names()
	mine := concerning{exclude: about(s.exclude, service, names), outside: s.outside}
	byName := false
	for _, name := range names {
		allowed := about(s.allow, service, []string{name})
		if !slices.ContainsFunc(allowed, func(w window) bool { return slices.Contains(w.environments, name) }) {
			continue
		}
		mine.allow = append(mine.allow, allowed)
		byName = byName || slices.Contains(environment.Own, name)
	}
	if forAll := about(s.allow, service, nil); !byName && len(forAll) > 0 {
		mine.allow = append(mine.allow, forAll)
	}
	return mine
}

// concerning is what a Schedule says of one Service, but for a stop.
type concerning struct {
	allow   [][]window // by the name of the environment; of each of them one has to be on
	exclude []window
	outside bool
}

// about are the windows that concern a Service of an environment.
func about(all []window, service string, environments []string) []window {
	return slices.DeleteFunc(slices.Clone(all), func(w window) bool { return !w.concerns(service, environments) })
}

// closed is what closes at a time.
func (s concerning) closed(at time.Time) []Cause {
	var causes []Cause
	for _, w := range s.exclude {
		if w.times.active(at) {
			causes = append(causes, Cause{w.line, "excluded: " + w.what(), w.override})
		}
	}
	for _, allowed := range s.allow {
		outside := Cause{allowed[0].line, "outside of the times that are allowed", s.outside}
		if !slices.Contains(causes, outside) && !slices.ContainsFunc(allowed, func(w window) bool { return w.times.active(at) }) {
			causes = append(causes, outside)
		}
	}
	return causes
}

// lookLimit bounds how far next looks: a window that begins every minute has
// half a million beginnings in a year.
const lookLimit = 10_000

// next is when open changes after a time; zero: not as far as one can see.
func (s concerning) next(at time.Time, open bool) time.Time {
	all := slices.Concat(append(slices.Clone(s.allow), s.exclude)...)
	stays := make([]time.Time, len(all))
	for range lookLimit / max(1, len(all)) {
		var first time.Time
		for i, w := range all {
			if !stays[i].After(at) {
				stays[i] = w.times.stays(at)
			}
			if !stays[i].IsZero() && (first.IsZero() || stays[i].Before(first)) {
				first = stays[i]
			}
		}
		if at = first; at.IsZero() || (len(s.closed(at)) == 0) != open {
			return at
		}
	}
	return time.Time{}
}

// what a window is for people: its description, or its times.
func (w window) what() string {
	if w.description != "" {
		return w.description
	}
	return w.times.String()
}

func (s stop) cause() Cause {
	text := "the line is stopped: " + s.reason
	if s.by != "" {
		text += ", by " + s.by
	}
	if !s.since.IsZero() {
		text += ", since " + Format(s.since)
	}
	return Cause{s.line, text, s.override}
}

// Format is a time for people, with its seconds where it has some.
func Format(at time.Time) string {
	if at.Second() != 0 {
		return at.Format("2006-01-02 15:04:05 MST")
	}
	return at.Format("2006-01-02 15:04 MST")
}
