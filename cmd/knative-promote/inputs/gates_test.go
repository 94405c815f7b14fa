package inputs

import (
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/promote/gate"
	"github.com/acme/knative-promote/promote/setting"
)

// TestInputsOfAnotherGate adds a kind of gate to the list: its input is in the table, for
// the commands that gates are for, and what asks the Service names it.
func TestInputsOfAnotherGate(t *testing.T) {
	t.Parallel()
	s := new(Settings)
	var wanted string
	header := gate.Kind{Name: "header", Sends: "header", Inputs: func(*gate.Settings) []setting.Row {
		return []setting.Row{{Name: "header", Said: setting.Guard, Value: setting.Bind(&wanted, parseLine)}}
	}}
	kinds := append(gate.Kinds(), []gate.Kind{header})
	in := named(inputsOfGates(s, kinds), "header")
	if err := in.Value.Set("X-Version"); err != nil || wanted != "X-Version" || !in.isFor(Promote) || in.isFor(Rollback) || in.Said != setting.Guard {
		t.Errorf("%+v keeps %q, error %v", in, wanted, err)
	}
	if names := senders(kinds); !slices.Contains(names, "header") {
		t.Errorf("what asks the Service: %s", strings.Join(names, ", "))
	}
}
