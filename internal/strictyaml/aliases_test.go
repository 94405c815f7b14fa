package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/strictyaml"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	doubling := "a0: &a0 xxxxxxxxxx\n"
	for i := range 40 {
		doubling += "a" + strings.Repeat("x", i) + ": &a" + strings.Repeat("x", i) + " [*a0, *a0]\n"
	}
	const long, deep, own = "is longer than 1000 bytes with its aliases expanded", "is nested more than 100 levels deep", "a: &a [*a]"
	for document, want := range map[string]string{
		"":                                  "",
		"a: &a {b: c}\nd: *a":               "",
		"a: &a " + strings.Repeat("x", 600): "",
		"a: " + strings.Repeat("x", 1000):   long,
		"a: &a " + strings.Repeat("x", 600) + "\nb: *a": long,
		doubling: long,
		own:      deep,
		strings.Repeat("[", 500) + strings.Repeat("]", 500): deep,
		"a: [": "yaml: line 1: did not find expected node content",
	} {
		got := ""
		if err := strictyaml.Bounded([]byte(document), 1000); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%.60q: got %q, expected %q", document, got, want)
		}
	}
}
