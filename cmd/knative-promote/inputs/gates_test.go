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
	pretend := gate.Kind{Name: "pretend", Sends: "pretend", Inputs: func(*gate.Settings) []setting.Row {
		return []setting.Row{{Name: "pretend", Said: setting.Guard, Value: setting.Bind(&wanted, parseLine)}}
	}}
	kinds := append(gate.Kinds(), []gate.Kind{pretend})
	in := named(inputsOfGates(s, kinds), "pretend")
	if err := in.Value.Set("X-Version"); err != nil || wanted != "X-Version" || !in.isFor(Promote) || in.isFor(Rollback) || in.Said != setting.Guard {
		t.Errorf("%+v keeps %q, error %v", in, wanted, err)
	}
	if names := senders(kinds); !slices.Contains(names, "pretend") {
		t.Errorf("what asks the Service: %s", strings.Join(names, ", "))
	}
}
