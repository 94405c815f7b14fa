package windows

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/acme/knative-promote/internal/strictyaml"
)

// TestParseErrors has every error of a file, as a user sees it.
func TestParseErrors(t *testing.T) {
	t.Parallel()
	const five = "expected five fields as in a crontab: minute, hour, day of the month, month, day of the week; for example: 0 9 * * 1-5"
	cron := func(text string) string { return "exclude: [{cron: '" + text + "', duration: 1h}]" }
	for _, test := range []struct{ file, want string }{
		{"exclude: [", "line 1: expected YAML: did not find expected node content"},
		{"a: b: c", "expected YAML: mapping values are not allowed in this context"},
		{"\x00", "expected YAML: control characters are not allowed"},
		{"{}\n---\n{}", "line 2: there is a second document: expected one"},
		{"{}\n---\n[", "line 3: expected YAML: did not find expected node content"},
		{strings.Repeat("#", sizeLimit+1), "it has 65537 bytes: expected 65536 at most"},
		{"hello", `line 1: the file: "hello": expected a mapping with timezone, override, allow, exclude or stop`},
		{"[]", "line 1: the file: a list: expected a mapping with timezone, override, allow, exclude or stop"},
		{"stop: {reason: x}\ndeny: []", `line 2: the file: the key "deny" is not known: expected timezone, override, allow, exclude or stop`},
		{"stop: {reason: x}\nstop: {reason: y}", "line 2: the file: stop is there twice: expected it once"},
		{"[a]: b", `line 1: the file: the key a list is not known: expected timezone, override, allow, exclude or stop`},
		{"<<: {a: b}", `line 1: the file: the key "<<" is not known: expected timezone, override, allow, exclude or stop`},
		{"timezone: Berlin", `line 1: the file: timezone: "Berlin": expected a name of the IANA time zone database, for example: Europe/Berlin`},
		{"timezone: Local", `line 1: the file: timezone: "Local": expected a name of the IANA time zone database, for example: Europe/Berlin`},
		{"timezone: ../etc/passwd", `line 1: the file: timezone: "../etc/passwd": expected a name of the IANA time zone database, for example: Europe/Berlin`},
		{"timezone:", "line 1: the file: timezone: nothing: expected printable text of 300 bytes at most"},
		{"override: yes", `line 1: the file: override: "yes": expected true or false`},

		{"allow: []", "line 1: allow: the list is empty: expected at least one time, or no allow where every time is allowed"},
		{"allow:", "line 1: allow: nothing: expected a list"},
		{"exclude: {cron: x}", "line 1: exclude: a mapping: expected a list"},
		{"exclude:\n- x", `line 2: exclude: "x": expected a mapping with cron, duration, from, until, timezone, environments, services, description or override`},
		{"exclude:\n- &a {cron: '* * * * *', duration: 1h}\n- *a", "line 3: exclude: an alias, which is not read: expected a mapping with cron, duration, from, until, timezone, environments, services, description or override"},
		{"allow:\n- cron: '* * * * *'\n  duration: 1h\n  override: true", `line 4: allow: the key "override" is not known: expected cron, duration, from, until, timezone, environments, services or description`},
		{"exclude:" + strings.Repeat("\n- x", windowLimit+1), "line 2: exclude: there are 201 times: expected 200 at most"},
		{"exclude: [{}]", `line 1: exclude: expected cron and duration, or from and until, for example: {cron: "0 9 * * 1-5", duration: 8h}`},
		{"exclude: [{cron: '* * * * *'}]", `line 1: exclude: expected cron and duration, or from and until, for example: {cron: "0 9 * * 1-5", duration: 8h}`},
		{"exclude: [{cron: '* * * * *', duration: 1h, from: 2026-12-18T00:00}]", `line 1: exclude: expected cron and duration, or from and until, for example: {cron: "0 9 * * 1-5", duration: 8h}`},

		{cron("0 9 * *"), `line 1: exclude: cron: "0 9 * *": ` + five},
		{cron("0 9 * * * 2026"), `line 1: exclude: cron: "0 9 * * * 2026": ` + five},
		{cron("TZ=Europe/Berlin"), `line 1: exclude: cron: "TZ=Europe/Berlin": ` + five},
		{cron("TZ=UTC 9 * * *"), `line 1: exclude: cron: "TZ=UTC 9 * * *": ` + five},
		{cron("@daily"), `line 1: exclude: cron: "@daily": ` + five},
		{cron("0 25 * * *"), `line 1: exclude: cron: "0 25 * * *": end of range (25) above maximum (23): 25; ` + five},
		{cron("*/0 * * * *"), `line 1: exclude: cron: "*/0 * * * *": step of range should be a positive number: */0; ` + five},
		{cron("0 0 30 2 *"), `line 1: exclude: cron: "0 0 30 2 *": it never begins; ` + five},
		{cron("0 0 */2 * 1"), `line 1: exclude: cron: "0 0 */2 * 1": whether the day of the month and the day of the week must both fit, or either, is not the same everywhere; ` + five},
		{cron("0 0 1 * */2"), `line 1: exclude: cron: "0 0 1 * */2": whether the day of the month and the day of the week must both fit, or either, is not the same everywhere; ` + five},
		{cron(", * * * *"), `line 1: exclude: cron: ", * * * *": it never begins; ` + five},
		{"exclude: [{cron: [], duration: 1h}]", "line 1: exclude: cron: a list: expected printable text of 300 bytes at most"},
		{"allow: [{cron: '* * * * *', duration: 2 days}]", `line 1: allow: duration: "2 days": expected one from 1m to 8784h, for example: 8h, or 1h30m`},
		{"allow: [{cron: '* * * * *', duration: -1h}]", `line 1: allow: duration: "-1h": expected one from 1m to 8784h, for example: 8h, or 1h30m`},
		{"allow: [{cron: '* * * * *', duration: 8785h}]", `line 1: allow: duration: "8785h": expected one from 1m to 8784h, for example: 8h, or 1h30m`},

		{"exclude:\n- from: 2026-12-18\n  until: 2027-01-04", `line 2: exclude: from: "2026-12-18": expected a date and a time, for example: 2026-12-18T00:00, or with an offset 2026-12-18T00:00Z`},
		{"exclude:\n- from: 2026-12-18T00:00\n  until: tomorrow", `line 3: exclude: until: "tomorrow": expected a date and a time, for example: 2026-12-18T00:00, or with an offset 2026-12-18T00:00Z`},
		{"exclude:\n- from: 2026-12-18T00:00\n  until: 2026-12-18T00:00", "line 3: exclude: until: 2026-12-18 00:00 UTC is not after from, 2026-12-18 00:00 UTC"},
		{"exclude: [{environments: [], from: a, until: b}]", "line 1: exclude: environments: a list: expected a list of names, for example: [production], or no environments for all"},
		{"stop: {reason: x, services: ['shop, cart']}", `line 1: stop: services: "shop, cart": expected the name of one, for example: [checkout]`},
		{"stop: {reason: x, services: [Shop]}", `line 1: stop: services: "Shop": expected the name of one, for example: [checkout]`},
		{"exclude: [{environments: ['staging,production'], from: a, until: b}]", `line 1: exclude: environments: "staging,production": expected the name of one, for example: [production]`},
		{"exclude: [{services: shop, from: a, until: b}]", `line 1: exclude: services: "shop": expected a list of names, for example: [checkout], or no services for all`},
		{"exclude: [{services: [[]], from: a, until: b}]", "line 1: exclude: services: a list: expected printable text of 300 bytes at most"},
		{"exclude: [{description: \"\\e[31m\", from: a, until: b}]", `line 1: exclude: description: "[31m": expected printable text of 300 bytes at most`},
		{"exclude: [{override: 1, from: a, until: b}]", `line 1: exclude: override: "1": expected true or false`},
		{"exclude: [{timezone: Nowhere, from: a, until: b}]", `line 1: exclude: timezone: "Nowhere": expected a name of the IANA time zone database, for example: Europe/Berlin`},

		{"stop:", "line 1: stop: nothing: expected a mapping with reason, by, since, environments, services or override"},
		{"stop: true", `line 1: stop: "true": expected a mapping with reason, by, since, environments, services or override`},
		{"stop: {by: alice}", "line 1: stop: the reason is missing: expected one for people, for example: {reason: incident 4711}"},
		{"stop: {reason: ''}", "line 1: stop: reason: nothing: expected printable text of 300 bytes at most"},
		{"stop: {reason: x, until: 2026-12-18T00:00}", `line 1: stop: the key "until" is not known: expected reason, by, since, environments, services or override`},
		{"stop: {reason: x, since: today}", `line 1: stop: since: "today": expected a date and a time, for example: 2026-12-18T00:00, or with an offset 2026-12-18T00:00Z`},
		{"stop: {reason: x, by: ~}", `line 1: stop: by: "~": expected printable text of 300 bytes at most`},
		{"stop: {reason: x, environments: production}", `line 1: stop: environments: "production": expected a list of names, for example: [production], or no environments for all`},
		{"stop: {reason: x, override: maybe}", `line 1: stop: override: "maybe": expected true or false`},
	} {
		_, err := Parse([]byte(test.file))
		if _, ok := errors.AsType[*strictyaml.Error](err); !ok || err.Error() != test.want {
			t.Errorf("%.200s\n got %v\nwant %s", test.file, err, test.want)
		}
	}
}

// TestParseHostile has files that are made to take time or memory.
func TestParseHostile(t *testing.T) {
	t.Parallel()
	bomb := "timezone: &a [x, x, x, x, x, x, x, x, x]\n"
	for i := range 9 {
		bomb += "k" + strings.Repeat("x", i) + ": &" + string(rune('b'+i)) + " [" + strings.Repeat("*"+string(rune('a'+i))+", ", 9) + "]\n"
	}
	for name, file := range map[string]string{
		"an alias bomb":      bomb,
		"an endless alias":   "exclude: &a [*a]",
		"a deep file":        strings.Repeat("[", sizeLimit),
		"a deep mapping":     strings.Repeat("{a: ", sizeLimit/4),
		"many keys":          "stop: {" + strings.Repeat("a: b, ", sizeLimit/8) + "}",
		"a long word":        "stop: {reason: " + strings.Repeat("a", sizeLimit/2) + "}",
		"many names":         "stop: {reason: x, services: [" + strings.Repeat("*a, ", sizeLimit/8) + "]}",
		"an unknown tag":     "stop: !!binary x",
		"a terminal's words": "stop: {reason: \"\\e]0;x\\a\"}",
	} {
		_, err := Parse([]byte(file))
		if err == nil || len(err.Error()) > 1000 || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %.2000v", name, err)
		}
	}
}

// FuzzParse has that a file never is more than an error, and that what is read
// of it has a state at any time.
func FuzzParse(f *testing.F) {
	for _, file := range []string{
		"", "stop: {reason: x}", "allow: [{cron: '0 9 * * 1-5', duration: 8h}]",
		"timezone: Europe/Berlin\noverride: true\nexclude:\n- {from: 2026-12-18T00:00, until: 2027-01-04T00:00, environments: [production]}\n",
		"exclude: [{cron: '30 2 */7 1,3 ?', duration: 1h30m, timezone: America/New_York, override: false, description: x}]",
		"exclude: [{cron: '* * 29 2 *', duration: 8784h}]",
	} {
		f.Add([]byte(file), int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, file []byte, unix int64) {
		schedule, err := Parse(file)
		if err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Errorf("an error without a line: %v", err)
			}
			return
		}
		at := time.Unix(unix%4_000_000_000, 0)
		state := schedule.At(at, "shop", Environment{Own: []string{"production"}})
		if !state.Next.IsZero() && !state.Next.After(at) {
			t.Errorf("at %s it changes at %s", at, state.Next)
		}
		if !state.Next.IsZero() && schedule.At(state.Next, "shop", Environment{Own: []string{"production"}}).Open() == state.Open() {
			t.Errorf("at %s nothing changes", state.Next)
		}
	})
}
