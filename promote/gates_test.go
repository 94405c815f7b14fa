package promote

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// allGates is a config that asks for every gate there is.
func allGates() (Config, Step) {
	return Config{WaitTimeout: time.Minute, Probe: Probe{Path: "/healthz"}}, Step{Percent: 10, Bake: time.Hour}
}

// TestEveryGateIsWhole fails for a gate that the worst case or the gate bake
// could not take into account.
func TestEveryGateIsWhole(t *testing.T) {
	t.Parallel()
	c, step := allGates()
	var names []string
	var sum time.Duration
	for _, gate := range gates(c, step, noCluster{}, nil) {
		if gate.Patience <= 0 || gate.Check == nil || gate.Holds == nil {
			t.Errorf("gate %q: patience %s, check %t, holds %t", gate.Name, gate.Patience, gate.Check != nil, gate.Holds != nil)
		}
		names, sum = append(names, gate.Name), sum+gate.Patience
	}
	if len(names) < 3 || names[len(names)-1] != "bake" {
		t.Errorf("gates %q, want bake as the last one, which asks the others again", names)
	}
	if got := c.patience(step); got != sum {
		t.Errorf("patience %s, want that of all gates, %s", got, sum)
	}
}

// TestBakeAsksEveryGate has gates that hold, and one that does not any more.
func TestBakeAsksEveryGate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := map[string]int{}
		holds := func(name string) Gate {
			return Gate{Name: name, Holds: func(context.Context, *Position) error { asked[name]++; return nil }}
		}
		bake := bakeGate(Step{Bake: time.Minute}, []Gate{holds("live"), holds("probe"), holds("third")})
		if _, err := bake.Check(t.Context(), &Position{}); err != nil {
			t.Fatal(err)
		}
		looks := int(time.Minute / bakeInterval)
		for _, name := range []string{"live", "probe", "third"} {
			if asked[name] != looks {
				t.Errorf("gate %s was asked %d times, want %d", name, asked[name], looks)
			}
		}
	})
}
