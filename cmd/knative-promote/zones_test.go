package main

import (
	"go/build"
	"slices"
	"testing"
)

// TestZonesAreBuiltIn looks at the imports: where tests run, the system mostly
// has time zones, and the image has none.
func TestZonesAreBuiltIn(t *testing.T) {
	t.Parallel()
	program, err := build.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(program.Imports, "time/tzdata") {
		t.Error("main does not import time/tzdata: in the image every sync window with a time zone would be judged in UTC")
	}
}
