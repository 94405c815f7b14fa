package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
)

// TestCommands keeps what can be asked for and what can be done the same.
func TestCommands(t *testing.T) {
	t.Parallel()
	var names []inputs.Command
	for _, c := range commandTable() {
		names = append(names, c.Name)
		if c.Usage == "" || c.Run == nil {
			t.Errorf("command %s is not complete", c.Name)
		}
	}
	if diff := cmp.Diff(inputs.Commands(), names); diff != "" {
		t.Errorf("commands (-accepted +done):\n%s", diff)
	}
}
