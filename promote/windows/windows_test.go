package windows

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the tests hold wherever they run
)

func parse(t testing.TB, file string) Schedule {
	t.Helper()
	s, err := Parse([]byte(file))
	if err != nil {
		t.Fatalf("%v in\n%s", err, file)
	}
	return s
}

func moment(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// inWords is a state as the tables below have it.
func inWords(s State) string {
	words := []string{"open"}
	if !s.Open() {
		words = nil
		for _, c := range s.Closed {
			words = append(words, c.String())
		}
	}
	next := "for good"
	if !s.Next.IsZero() {
		next = "until " + Format(s.Next)
	}
	return strings.Join(words, "; ") + " " + next
}

// TestAt has what files say of the Service shop in production at a time.
func TestAt(t *testing.T) {
	t.Parallel()
	const office = "timezone: Europe/Berlin\nallow:\n  - {cron: '0 9 * * 1-5', duration: 8h}\n"
	const night = "exclude:\n  - {cron: '0 22 * * *', duration: 12h, timezone: Europe/Berlin}\n"
	const gap = "exclude:\n  - {cron: '30 2 * * *', duration: 3h, timezone: Europe/Berlin, description: backup}\n"
	for _, test := range []struct{ name, file, at, want string }{
		{"nothing", "", "2026-11-23T12:00:00Z", "open for good"},
		{"comments alone", "# none yet\n---\n", "2026-11-23T12:00:00Z", "open for good"},
		{"an empty mapping", "{}", "2026-11-23T12:00:00Z", "open for good"},
		{"no exclusions", "exclude: []", "2026-11-23T12:00:00Z", "open for good"},

		{"office hours, before", office, "2026-11-23T07:59:59Z", "outside of the times that are allowed (line 3) until 2026-11-23 09:00 CET"},
		{"office hours, from the first moment", office, "2026-11-23T08:00:00Z", "open until 2026-11-23 17:00 CET"},
		{"office hours, to the last moment", office, "2026-11-23T15:59:59Z", "open until 2026-11-23 17:00 CET"},
		{"office hours, after", office, "2026-11-23T16:00:00Z", "outside of the times that are allowed (line 3) until 2026-11-24 09:00 CET"},
		{"office hours, before a weekend", office, "2026-11-27T18:00:00Z", "outside of the times that are allowed (line 3) until 2026-11-30 09:00 CET"},
		{"office hours, in summer", office, "2026-07-01T07:00:00Z", "open until 2026-07-01 17:00 CEST"},
		{"office hours, before the weekend of a change to winter", office, "2026-10-23T15:00:00Z", "outside of the times that are allowed (line 3) until 2026-10-26 09:00 CET"},

		{"a night in which the clocks go forward", night, "2026-03-29T07:59:59Z", `excluded: "0 22 * * *" for 12h0m0s, time zone Europe/Berlin (line 2) until 2026-03-29 09:00 UTC`},
		{"a night in which the clocks are set back", night, "2026-10-25T07:59:59Z", `excluded: "0 22 * * *" for 12h0m0s, time zone Europe/Berlin (line 2) until 2026-10-25 08:00 UTC`},
		{"a beginning that the clocks skip, before", gap, "2026-03-29T00:59:59Z", "open until 2026-03-29 01:00 UTC"},
		{"a beginning that the clocks skip", gap, "2026-03-29T01:00:00Z", "excluded: backup (line 2) until 2026-03-29 04:00 UTC"},
		{"a beginning that the clocks show twice, before", gap, "2026-10-25T00:29:59Z", "open until 2026-10-25 00:30 UTC"},
		{"a beginning that the clocks show twice", gap, "2026-10-25T00:30:00Z", "excluded: backup (line 2) until 2026-10-25 03:30 UTC"},
		{"a beginning that the clocks show twice, over", gap, "2026-10-25T03:30:00Z", "open until 2026-10-26 01:30 UTC"},
		{"a change of half an hour", "exclude: [{cron: '0 2 * * *', duration: 1h, timezone: Australia/Lord_Howe, description: x}]", "2026-10-03T15:00:00Z", "open until 2026-10-03 15:30 UTC"},
		{"a day that was skipped", "exclude: [{cron: '0 12 30 12 *', duration: 1h, timezone: Pacific/Apia, description: x}]", "2011-12-30T10:00:00Z", "excluded: x (line 1) until 2011-12-30 11:00 UTC"},

		{"times that overlap", "exclude: [{cron: '0 * * * *', duration: 90m, description: x}]", "2026-11-23T12:00:00Z", "excluded: x (line 1) for good"},
		{"times that overlap for a while", "exclude: [{cron: '*/10 8-9 * * *', duration: 1h, description: x}]", "2026-11-23T08:05:00Z", "excluded: x (line 1) until 2026-11-23 10:50 UTC"},
		{"times that follow upon each other", "exclude: [{cron: '0 8 * * *', duration: 1h, description: x}, {cron: '0 9 * * *', duration: 1h, description: y}]", "2026-11-23T08:05:00Z", "excluded: x (line 1) until 2026-11-23 10:00 UTC"},
		{"a day that comes every four years", "exclude: [{cron: '0 0 29 2 *', duration: 24h, description: x}]", "2026-11-23T08:05:00Z", "open until 2028-02-29 00:00 UTC"},

		{"one time, before", "timezone: Europe/Berlin\nexclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00, description: year's end}]", "2026-12-17T22:59:59Z", "open until 2026-12-18 00:00 CET"},
		{"one time", "timezone: Europe/Berlin\nexclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00, description: year's end}]", "2026-12-17T23:00:00Z", "excluded: year's end (line 2) until 2027-01-04 00:00 CET"},
		{"one time, after", "timezone: Europe/Berlin\nexclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00}]", "2027-01-03T23:00:00Z", "open for good"},
		{"one time with offsets", "timezone: Europe/Berlin\nexclude: [{from: 2026-12-18T00:00Z, until: '2026-12-18T03:00:30+01:00'}]", "2026-12-18T01:00:00Z", "excluded: 2026-12-18 01:00 CET until 2026-12-18 03:00:30 CET, time zone Europe/Berlin (line 2) until 2026-12-18 03:00:30 CET"},
		{"one time without a zone", "exclude: [{from: 2026-12-18T00:00, until: 2026-12-18T01:00}]", "2026-12-18T00:30:00Z", "excluded: 2026-12-18 00:00 UTC until 2026-12-18 01:00 UTC (line 1) until 2026-12-18 01:00 UTC"},
		{"one time with a zone of its own", "exclude: [{from: 2026-12-18T00:00, until: 2026-12-18T01:00, timezone: America/New_York, description: x}]", "2026-12-18T05:30:00Z", "excluded: x (line 1) until 2026-12-18 06:00 UTC"},
		{"one time that is allowed", "allow: [{from: 2026-12-18T00:00, until: 2026-12-19T00:00}]", "2026-12-20T00:00:00Z", "outside of the times that are allowed (line 1) for good"},

		{"an exclusion wins", office + "exclude:\n  - {from: 2026-11-23T12:00, until: 2026-11-23T13:00, description: audit}\n", "2026-11-23T11:30:00Z", "excluded: audit (line 5) until 2026-11-23 13:00 CET"},
		{"an exclusion ends outside of the allowed times", office + "exclude:\n  - {from: 2026-11-23T16:00, until: 2026-11-23T18:00, description: audit}\n", "2026-11-23T15:30:00Z", "excluded: audit (line 5) until 2026-11-24 09:00 CET"},
		{"excluded and not allowed", office + "exclude:\n  - {from: 2026-11-23T16:00, until: 2026-11-23T18:00, description: audit}\n", "2026-11-23T16:30:00Z", "excluded: audit (line 5); outside of the times that are allowed (line 3) until 2026-11-24 09:00 CET"},
		{"any of several allowed times", "allow: [{cron: '0 9 * * *', duration: 2h}, {cron: '0 10 * * *', duration: 2h}]", "2026-11-23T09:30:00Z", "open until 2026-11-23 12:00 UTC"},

		{"allowed for another environment", "allow: [{cron: '0 9 * * *', duration: 1h, environments: [staging]}]", "2026-11-23T12:00:00Z", "open for good"},
		{"allowed for this environment and another", "allow: [{cron: '0 9 * * *', duration: 1h, environments: [staging, production]}]", "2026-11-23T12:00:00Z", "outside of the times that are allowed (line 1) until 2026-11-24 09:00 UTC"},
		{"allowed for another service", "allow: [{cron: '0 9 * * *', duration: 1h, environments: [production], services: [cart]}]", "2026-11-23T12:00:00Z", "open for good"},
		{"excluded for another environment", "exclude: [{cron: '* * * * *', duration: 1h, environments: [staging]}]", "2026-11-23T12:00:00Z", "open for good"},
		{"excluded for this service", "exclude: [{cron: '0 12 * * *', duration: 1h, services: [shop], description: x}]", "2026-11-23T12:00:00Z", "excluded: x (line 1) until 2026-11-23 13:00 UTC"},

		{"stopped", "stop: {reason: incident 4711, by: alice, since: 2026-11-22T14:10Z}", "2026-11-23T12:00:00Z", "the line is stopped: incident 4711, by alice, since 2026-11-22 14:10 UTC (line 1) for good"},
		{"stopped before it says so", "stop: {reason: 4711, since: 2099-11-22T14:10}", "2026-11-23T12:00:00Z", "the line is stopped: 4711, since 2099-11-22 14:10 UTC (line 1) for good"},
		{"stopped and not allowed", office + "stop:\n  reason: |\n    two\n    lines\n", "2026-11-23T07:00:00Z", "the line is stopped: two lines (line 5); outside of the times that are allowed (line 3) for good"},
		{"another service is stopped", "stop: {reason: x, services: [cart]}", "2026-11-23T12:00:00Z", "open for good"},
	} {
		if got := inWords(parse(t, test.file).At(moment(t, test.at), "shop", Environment{Own: []string{"production"}})); got != test.want {
			t.Errorf("%s, at %s:\n got %s\nwant %s", test.name, test.at, got, test.want)
		}
	}
}

// TestOverridable has which files let a run override what closes.
func TestOverridable(t *testing.T) {
	t.Parallel()
	const always = "{cron: '* * * * *', duration: 1h"
	for file, want := range map[string]bool{
		"exclude: [" + always + "}]":                                                 false,
		"exclude: [" + always + ", override: true}]":                                 true,
		"override: true\nexclude: [" + always + "}]":                                 true,
		"override: true\nexclude: [" + always + ", override: false}]":                false,
		"exclude: [" + always + ", override: true}, " + always + "}]":                false,
		"allow: [{from: 2026-01-01T00:00, until: 2026-01-02T00:00}]":                 false,
		"override: true\nallow: [{from: 2026-01-01T00:00, until: 2026-01-02T00:00}]": true,
		"stop: {reason: x}":                                                             false,
		"override: true\nstop: {reason: x}":                                             false, // what is stopped in haste is stopped for all
		"stop: {reason: x, override: true}":                                             true,
		"stop: {reason: x, override: true}\nexclude: [" + always + "}]":                 false,
		"override: true\nstop: {reason: x, override: true}\nexclude: [" + always + "}]": true,
	} {
		state := parse(t, file).At(moment(t, "2026-11-23T12:00:00Z"), "shop", Environment{Own: []string{"production"}})
		if state.Open() || state.Overridable() != want {
			t.Errorf("%s: open %t, overridable %t, want false, %t", file, state.Open(), state.Overridable(), want)
		}
	}
}

// TestAtEnds has files that make one look at much.
func TestAtEnds(t *testing.T) {
	t.Parallel()
	many := "exclude:\n" + strings.Repeat("  - {cron: '* * * 12 *', duration: 1m}\n  - {cron: '*/2 * * * *', duration: 1m}\n", windowLimit/2)
	for _, file := range []string{
		"exclude: [{cron: '* * * * *', duration: 1m}]",
		"allow: [{cron: '* * * * *', duration: 1m}]",
		"allow: [{cron: '* * * * *', duration: 1m}]\nexclude: [{cron: '* * * * *', duration: 8784h}]",
		"allow: [{cron: '*/2 * * * *', duration: 1m}]\nexclude: [{cron: '1-59/2 * * * *', duration: 1m}, {cron: '*/2 * * * *', duration: 1m}]",
	} {
		if state := parse(t, file).At(moment(t, "2026-11-23T12:00:00Z"), "", Environment{}); !state.Next.IsZero() {
			t.Errorf("%s changes at %s", file, state.Next)
		}
	}
	if state := parse(t, many).At(moment(t, "2026-11-23T12:00:00Z"), "", Environment{}); inWords(State{Next: state.Next}) != "open until 2026-11-23 12:01 UTC" {
		t.Errorf("many windows change at %s", state.Next)
	}
}

// TestAtByAllNames has an environment with several names, of which each one that times are allowed for closes.
func TestAtByAllNames(t *testing.T) {
	t.Parallel()
	const file = "allow:\n  - {cron: \"0 3 29 2 *\", duration: 1h, environments: [production]}\n  - {cron: \"0 0 * * *\", duration: 24h, environments: [dev]}\n"
	const closedElse = file + "  - {cron: \"0 3 29 2 *\", duration: 1h}\n"
	for _, test := range []struct {
		file, own, added string
		want             bool
	}{
		{file, "dev", "", true}, {file, "production", "", false}, {file, "eu", "", true},
		{file, "production,dev", "", false}, {file, "dev,production", "", false}, {file, "dev,eu", "", true},
		{file, "dev", "production", false}, {file, "production", "dev", false}, {file, "eu", "production", false},
		{closedElse, "dev", "", true}, {closedElse, "eu", "", false}, {closedElse, "", "", false},
		{closedElse, "dev,shop", "", true}, {closedElse, "shop,dev", "eu", true}, // the folder is called as the service
		{closedElse, "eu", "dev", false}, {closedElse, "", "dev", false}, // a name that is added opens nothing
	} {
		state := parse(t, test.file).At(moment(t, "2026-11-23T12:00:00Z"), "shop", Environment{Own: strings.Split(test.own, ","), Added: test.added})
		if state.Open() != test.want || !test.want && state.Next.IsZero() {
			t.Errorf("%s, added %s: %s, want open %t", test.own, test.added, inWords(state), test.want)
		}
	}
}

func ExampleSchedule_At() {
	schedule, err := Parse([]byte(`
timezone: Europe/Berlin
allow:
  - {cron: "0 9 * * 1-5", duration: 8h, environments: [production]}
`))
	if err != nil {
		panic(err)
	}
	saturday := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	fmt.Println(schedule.At(saturday, "staging", Environment{Own: []string{"shop"}}).Open())
	production := schedule.At(saturday, "shop", Environment{Own: []string{"production"}})
	fmt.Println(production.Closed[0], "until", Format(production.Next))
	// Output:
	// true
	// outside of the times that are allowed (line 4) until 2026-11-30 09:00 CET
}
