package manifest_test

import (
	"testing"

	"github.com/acme/knative-promote/promote/manifest"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	of := func(before, after string) manifest.Difference {
		object := func(text string) []byte {
			return []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + text)
		}
		return manifest.Compare(object(before), object(after))
	}
	part := of("  a: b\n", "  a: c\n")
	for name, c := range map[string]struct {
		part   manifest.Difference
		others []manifest.Difference
		want   bool
	}{
		"nothing":       {nil, nil, true},
		"of nobody":     {part, nil, false},
		"of one":        {part, []manifest.Difference{of("  a: b\n  d: e\n", "  a: c\n  d: f\n")}, true},
		"of two":        {of("  a: b\n  d: e\n", "  a: c\n  d: f\n"), []manifest.Difference{part, of("  d: e\n", "  d: f\n")}, true},
		"of none whole": {of("  a: b\n  d: e\n", "  a: c\n  d: f\n"), []manifest.Difference{part}, false},
		"masked":        {part, []manifest.Difference{of("  a: x\n", "  a: y\n")}, false},
		"not changed":   {part, []manifest.Difference{of("  a: b\n  d: e\n", "  a: b\n  d: f\n")}, false},
	} {
		if got := c.part.Within(c.others); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
