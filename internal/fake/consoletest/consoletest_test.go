package consoletest_test

import (
	"maps"
	"testing"

	"github.com/acme/knative-promote/internal/fake/consoletest"
)

func TestValues(t *testing.T) {
	t.Parallel()
	got, err := consoletest.Values("a=1\nb<<END\nx=1\ny\nEND\na=2\n")
	if want := map[string]string{"a": "2", "b": "x=1\ny"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, text := range []string{"a", "b<<END\nx\n", "<<END\n"} {
		if got, err := consoletest.Values(text); err == nil {
			t.Errorf("%q gives %q without an error", text, got)
		}
	}
}
