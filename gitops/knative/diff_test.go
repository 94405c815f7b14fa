package knative

import (
	"fmt"
	"strings"
	"testing"
)

// TestDifferencesBelowALongKey names a long key once, not for each value below it: a pull request
// may bring a megabyte of one and thousands of the other.
func TestDifferencesBelowALongKey(t *testing.T) {
	t.Parallel()
	was, is := map[string]any{}, map[string]any{}
	for i := range 1000 {
		was[fmt.Sprint(i)], is[fmt.Sprint(i)] = "a", "b"
	}
	key := strings.Repeat("k", longestPath)
	got := differences("", map[string]any{key: was, "spec": "a"}, map[string]any{key: is, "spec": "b"})
	if want := []string{"/" + key, "/spec"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d differences of %d bytes in all, want the long key and /spec", len(got), len(strings.Join(got, "")))
	}
	if got := differences("", map[string]any{key: was}, map[string]any{key: was}); got != nil {
		t.Errorf("the same has %d differences", len(got))
	}
}
