package pipeline

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shown are rules in one line.
func shown(r Rules) string {
	if !r.Known() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s:", r.Service, r.Environment)
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		said := r.Settings[name]
		fmt.Fprintf(&b, " %s=%s:%d", name, strings.ReplaceAll(said.Text, "\n", "|"), said.Line)
	}
	if r.Approval > 0 {
		fmt.Fprintf(&b, " approval:%d", r.Approval)
	}
	if r.Override {
		b.WriteString(" override")
	}
	return b.String()
}

// TestLooser has what a run may be given where the file says something.
func TestLooser(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		input, said  string
		keep, looser []string // "" is nothing
	}{
		{"from", "apps/x/staging", []string{"apps/x/staging", "apps/x/qa, apps/x/staging"}, []string{"", "apps/x/dev"}},
		{"from", "apps/x/qa\napps/x/uat", []string{"apps/x/qa\napps/x/uat", "apps/x/uat,apps/x/qa", "apps/x/dev\napps/x/uat\napps/x/qa"}, []string{"", "apps/x/qa", "apps/x/uat,apps/x/dev"}},
		{"from-branch", "staging", []string{"staging"}, []string{"", "main"}},
		{"soak", "1h", []string{"1h", "60m", "3600", "24h"}, []string{"", "59m", "3599"}},
		{"soak", "3600", []string{"1h"}, []string{"30m"}},
		{"checks", "e2e\ncontract", []string{"contract, e2e", "e2e\ncontract\nmore"}, []string{"", "e2e", "e2e contract"}},
		{"steps", "10@5m,50@5m,100", []string{"10@5m,50@5m,100", "10@5m\n50@300\n100", "5,10@6m,30,50@5m,100@1m", "10@5m", "10@5m,50@5m", "5"},
			[]string{"", "100", "10@5m,100", "10@4m,50@5m,100", "10,50,100", "50@5m,100"}},
		{"steps", "10,50", []string{"10", "10,50@1h"}, []string{"10,50,100", "50"}},
		{"steps", "100@10m", []string{"50,100@10m", "50"}, []string{"100", "50,100"}},
		{"probe", "/healthz expect=200", []string{"/healthz  expect=200"}, []string{"", "/healthz", "/"}},
		{"probe-count", "3", []string{"3", "10"}, []string{"", "2"}},
		{"strict", "false", []string{"false", "true", "True"}, []string{""}},
		{"strict", "true", []string{"true"}, []string{"", "false"}},
		{"on-config-drift", "warn", []string{"warn", "fail"}, nil},
		{"pod-security", "baseline", []string{"restricted"}, []string{""}},
		{"preflight", "warn", []string{"error"}, []string{"off"}},
		{"on-failure", "rollback", []string{"rollback"}, []string{"hold"}},
		{"timeout", "1h", []string{"1m", ""}, nil}, // no guard
	} {
		rules := Rules{guards: someKeys().guards(), Environment: "production", Settings: Settings{test.input: {test.said, 7}}}
		for _, given := range test.keep {
			if all := rules.Looser(map[string]string{test.input: given}); len(all) > 0 {
				t.Errorf("%s: %q is taken for less than %q", test.input, given, test.said)
			}
		}
		for _, given := range test.looser {
			all := rules.Looser(map[string]string{test.input: given})
			if len(all) != 1 || all[0].Input != test.input || all[0].Given != given || all[0].Setting != (Setting{test.said, 7}) {
				t.Errorf("%s: %q is taken for as much as %q: %v", test.input, given, test.said, all)
			}
		}
	}
}

// TestLooserImage has an image that comes from nowhere, or from another branch, where
// the file names an environment for it.
func TestLooserImage(t *testing.T) {
	t.Parallel()
	rules := Rules{guards: someKeys().guards(), Environment: "production", Settings: Settings{"from": {"apps/x/staging", 7}}}
	var words []string
	for _, l := range rules.Looser(map[string]string{"image": "app:v2", "from-branch": "topic"}) {
		words = append(words, l.Input+" "+l.Given+": "+l.Expected())
	}
	if got, want := strings.Join(words, "; "), `from : "apps/x/staging"; image app:v2: none, as the images come from apps/x/staging; from-branch topic: that of the pipeline file, or none`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if all := (Rules{}).Looser(map[string]string{"image": "app:v2"}); len(all) > 0 {
		t.Errorf("without a file: %v", all)
	}
}
