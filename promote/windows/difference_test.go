package windows

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompare says of two files what a person needs to know of the change.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, before, after string
		want                Difference
	}{
		{"written in another way", `
exclude:
  - {from: 2026-12-18T00:00, until: 2027-01-04T00:00, description: year's end}
  - {cron: "0 12 * * 5", duration: 60h}
`, `
timezone: UTC
exclude:
  - {cron: "0 12 * * 5", duration: 60h}
  - from: 2026-12-18T00:00
    until: 2027-01-04T00:00
    description: year's end
`, Difference{}},
		{"the line is stopped", ``, `stop: {reason: incident 4711, by: alice, environments: [production], override: true}`,
			Difference{Added: []string{"the line is stopped: incident 4711, by alice; only in production; a run may override it"}}},
		{"another zone of the same short name", "exclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00, timezone: America/Chicago}]", "exclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00, timezone: Asia/Shanghai}]",
			Difference{
				Removed: []string{"excluded: 2026-12-18 00:00 CST until 2027-01-04 00:00 CST, time zone America/Chicago"},
				Added:   []string{"excluded: 2026-12-18 00:00 CST until 2027-01-04 00:00 CST, time zone Asia/Shanghai"},
			}},
		{"one of two alike", `
allow:
  - {cron: "0 9 * * 1-5", duration: 8h, services: [shop, cart]}
  - {cron: "0 9 * * 1-5", duration: 8h, services: [shop, cart]}
`, `
override: true
allow:
  - {cron: "0 9 * * 1-5", duration: 8h, services: [shop, cart]}
`, Difference{
			Removed: []string{`allowed: "0 9 * * 1-5" for 8h0m0s, time zone UTC; only of shop, cart`},
			Added:   []string{"outside of the times that are allowed; a run may override it"},
		}},
		{"a description that says what another entry does", `exclude: [{cron: "0 9 * * *", duration: 1h, description: x, services: [shop]}]`,
			`exclude: [{cron: "0 9 * * *", duration: 1h, description: 'x, "0 9 * * *" for 1h0m0s, time zone UTC; only of shop; a run may override it'}]`,
			Difference{
				Removed: []string{`excluded: x, "0 9 * * *" for 1h0m0s, time zone UTC; only of shop`},
				Added:   []string{`excluded: x, "0 9 * * *" for 1h0m0s, time zone UTC; only of shop; a run may override it, "0 9 * * *" for 1h0m0s, time zone UTC`},
			}},
		{"words that are the same", `stop: {reason: incident, by: "alice, since yesterday"}`, `stop: {reason: "incident, by alice, since yesterday"}`,
			Difference{
				Removed: []string{"the line is stopped: incident, by alice, since yesterday"},
				Added:   []string{"the line is stopped: incident, by alice, since yesterday"},
			}},
		{"by seconds", "exclude: [{from: 2026-12-18T00:00, until: 2027-01-04T00:00}]", "exclude: [{from: 2026-12-18T00:00:30, until: 2027-01-04T00:00}]",
			Difference{
				Removed: []string{"excluded: 2026-12-18 00:00 UTC until 2027-01-04 00:00 UTC"},
				Added:   []string{"excluded: 2026-12-18 00:00:30 UTC until 2027-01-04 00:00 UTC"},
			}},
		{"another zone", `exclude: [{cron: "0 9 * * *", duration: 1h}]`, "timezone: Europe/Berlin\nexclude: [{cron: \"0 9 * * *\", duration: 1h}]",
			Difference{
				Removed: []string{`excluded: "0 9 * * *" for 1h0m0s, time zone UTC`},
				Added:   []string{`excluded: "0 9 * * *" for 1h0m0s, time zone Europe/Berlin`},
			}},
	} {
		before, err := Parse([]byte(test.before))
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse([]byte(test.after))
		if err != nil {
			t.Fatal(err)
		}
		got := Compare(before, after)
		if len(got.Removed) == 0 {
			got.Removed = nil
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
