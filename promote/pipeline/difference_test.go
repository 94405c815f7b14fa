package pipeline

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCompare has what is told of a change of the file.
func TestCompare(t *testing.T) {
	t.Parallel()
	before := read(t, begin+`defaults: {probe: /healthz}
environments:
  dev:
  prod: {from: dev, soak: 1h, checks: [e2e]}
services: {cart: {prod: {steps: [10, 100]}}}
`)
	after := read(t, `# the same, but for what is told
version: 1
environments:
  dev:
  qa: {}
  prod:
    checks:
      - e2e
    from: dev
    approval: true
services: {cart: {prod: {steps: [100]}}}
defaults: {probe: /healthz}
path: apps/{service}/overlays/{environment}
`)
	removed, added := Compare(before, after)
	want := [][]string{
		{"environments: dev, prod", "prod: soak: 1h", "cart: prod: steps: 10, 100"},
		{"environments: dev, qa, prod", "qa: probe: /healthz", "prod: approval: true", "cart: prod: steps: 100"},
	}
	if diff := cmp.Diff(want, [][]string{removed, added}); diff != "" {
		t.Errorf("removed and added (-want +got):\n%s", diff)
	}
	if removed, added := Compare(after, after); len(removed)+len(added) > 0 {
		t.Errorf("of the same file: %q, %q", removed, added)
	}
	if removed, _ := Compare(before, File{}); len(removed) != 8 {
		t.Errorf("of a file that is deleted: %q", removed)
	}
}

// TestCompareMoved has ten defaults written into the environments, and guards that go with it: these are told.
func TestCompareMoved(t *testing.T) {
	t.Parallel()
	before := read(t, begin+"defaults: {application: a, probe: /healthz, steps: 100}\nenvironments: {dev: {probe: /}, prod: {approval: true}}\n")
	after := read(t, begin+"environments: {dev: {application: a, steps: 100, probe: /}, prod: {application: b, steps: 100}}\n")
	removed, added := Compare(before, after)
	want := [][]string{{"prod: approval: true", "prod: probe: /healthz", "prod: application: a"}, {"prod: application: b"}}
	if diff := cmp.Diff(want, [][]string{removed, added}); diff != "" {
		t.Errorf("removed and added (-want +got):\n%s", diff)
	}
}

// TestCompareLines tells one line with a comma from two lines, but where commas do the same.
func TestCompareLines(t *testing.T) {
	t.Parallel()
	with := func(args, from string) File {
		return read(t, begin+"environments:\n  dev:\n  qa: {}\n  prod: {from: "+from+", probe: "+args+"}\n")
	}
	removed, added := Compare(with("[a=1, b=2]", "[dev, qa]"), with(`"a=1, b=2"`, `"dev, qa"`))
	want := [][]string{{"prod: probe: a=1, b=2"}, {`prod: probe: "a=1, b=2"`}}
	if diff := cmp.Diff(want, [][]string{removed, added}); diff != "" {
		t.Errorf("removed and added (-want +got):\n%s", diff)
	}
}
