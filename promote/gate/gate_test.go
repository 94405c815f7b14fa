package gate

import (
	"slices"
	"testing"
	"time"

	"github.com/acme/knative-promote/promote/analysis"
	"github.com/acme/knative-promote/promote/compare"
	"github.com/acme/knative-promote/promote/requests"
)

// allGates are settings that ask for every gate there is.
func allGates() (Settings, Step) {
	return Settings{
		Wait: time.Minute, WarmUp: "/", Probe: Probe{Path: "/healthz"}, Load: requests.Load{Path: "/", Rate: 1}, WaitForData: time.Minute,
		Compare:  []compare.Question{{Path: "/", Status: true, Count: 20}},
		Analysis: analysis.Inputs{Entries: []analysis.Entry{{File: "analysis.yaml"}}},
	}, Step{Bake: time.Hour, Next: 100}
}

// TestEveryGateIsWhole fails for a gate that the worst case could not take into
// account, and for one of the list that allGates does not ask for.
func TestEveryGateIsWhole(t *testing.T) {
	t.Parallel()
	c, step := allGates()
	var names []string
	var sum time.Duration
	for _, row := range c.After(step, Templates{}) {
		var longest time.Duration
		for _, gate := range row {
			if gate.Patience <= 0 || gate.Check == nil {
				t.Errorf("gate %q: patience %s, check %t", gate.Name, gate.Patience, gate.Check != nil)
			}
			names, longest = append(names, gate.Name), max(longest, gate.Patience)
		}
		sum += longest
	}
	var kinds []string
	for _, kind := range slices.Concat(Kinds()...) {
		kinds = append(kinds, kind.Name)
	}
	if !slices.Equal(names, kinds) {
		t.Errorf("gates %q, the list has %q: add what asks for a gate to allGates", names, kinds)
	}
	if got, want := Patience(c.After(step, Templates{})), time.Minute+warmUpPatience+warmUpPods+probePatience+21*comparePatience+time.Hour+time.Minute+requests.Limit; got != sum || got != want {
		t.Errorf("patience %s, want that of the longest gate of each row, %s", got, want)
	}
}
