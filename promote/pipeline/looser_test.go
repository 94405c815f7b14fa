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

// given are values of inputs, with the defaults of those that have one.
func given(values map[string]string) map[string]string {
	all := map[string]string{}
	for _, key := range someKeys().All {
		all[key.Input] = key.Default
	}
	maps.Copy(all, values)
	return all
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
		{"soak", "1h", []string{"1h", "60m", "24h"}, []string{"", "59m", "3600", "soon"}},
		{"checks", "e2e\ncontract", []string{"contract, e2e", "e2e\ncontract\nmore"}, []string{"", "e2e", "e2e contract"}},
		{"probe", "/healthz expect=200", []string{"/healthz  expect=200"}, []string{"", "/healthz", "/"}},
		{"probe-count", "3", []string{"3", "10"}, []string{"", "2", "many"}},
		{"strict", "false", []string{"false", "true", "True"}, []string{""}},
		{"strict", "true", []string{"true"}, []string{"", "false"}},
		{"on-config-drift", "warn", []string{"warn", "fail"}, nil},
		{"pod-security", "baseline", []string{"restricted"}, []string{""}},
		{"preflight", "warn", []string{"error"}, []string{"off"}},
		{"on-failure", "rollback", []string{"rollback"}, []string{"hold"}},
		{"timeout", "1h", []string{"1m", ""}, nil}, // no guard
	} {
		rules := Rules{guards: someKeys().guards(), Environment: "production", Settings: Settings{test.input: {test.said, 7}}}
		for _, value := range test.keep {
			if all := rules.Looser(given(map[string]string{test.input: value})); len(all) > 0 {
				t.Errorf("%s: %q is taken for less than %q", test.input, value, test.said)
			}
		}
		for _, value := range test.looser {
			all := rules.Looser(given(map[string]string{test.input: value}))
			if len(all) != 1 || all[0].Input != test.input || all[0].Given != value || all[0].Setting != (Setting{test.said, 7}) {
				t.Errorf("%s: %q is taken for as much as %q: %v", test.input, value, test.said, all)
			}
		}
	}
}

// TestLooserBeside has inputs that the file does not say, beside a guard that rests on them.
func TestLooserBeside(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		said  Settings
		given map[string]string
		want  string
	}{
		{Settings{"from": {"apps/x/staging", 7}}, map[string]string{"image": "app:v2", "from-branch": "topic"},
			`from : "apps/x/staging"; from-branch topic: none beside from; image app:v2: none beside from`},
		{Settings{"probe": {"/", 7}}, map[string]string{"probe": "/", "probe-count": "1", "probe-connect": "a:1"}, `probe-count 1: "3" beside probe; probe-connect a:1: none beside probe`},
		{Settings{"probe": {"/", 7}}, map[string]string{"probe": "/", "probe-count": "4"}, ""},
		{Settings{"probe": {"/", 7}, "probe-connect": {"b:2", 8}}, map[string]string{"probe": "/", "probe-connect": "a:1"}, `probe-connect a:1: "b:2"`},
		{Settings{"probe-connect": {"b:2", 8}}, map[string]string{"probe": "/", "probe-connect": "a:1"}, ""},                             // nothing rests on it
		{Settings{"preflight": {"error", 7}}, map[string]string{"skip-checks": "drifted"}, "skip-checks drifted: none beside preflight"}, // at its default
		{Settings{"strict": {"false", 7}}, map[string]string{"strict": "false", "skip-checks": "drifted"}, ""},
		{nil, map[string]string{"image": "app:v2"}, ""},
	} {
		var words []string
		for _, l := range (Rules{guards: someKeys().guards(), Environment: "production", Settings: test.said}).Looser(given(test.given)) {
			words = append(words, l.Input+" "+l.Given+": "+l.Expected())
			if l.Line != 7 && l.Line != 8 {
				t.Errorf("%s: line %d", l.Input, l.Line)
			}
		}
		if got := strings.Join(words, "; "); got != test.want {
			t.Errorf("%v: got %s\nwant %s", test.said, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                             nil,
		" e2e, ,contract\n":            {"e2e", "contract"},
		"build (linux, amd64), e2e":    {"build (linux, amd64)", "e2e"},
		"build (linux\namd64), e2e":    {"build (linux", "amd64)", "e2e"},
		"a), b (c, (d, e), f), g\nh,i": {"a)", "b (c, (d, e), f)", "g", "h", "i"},
	} {
		if got := Names(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
