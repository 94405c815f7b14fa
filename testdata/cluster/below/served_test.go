package main

import (
	"testing"
	"time"
)

func TestServed(t *testing.T) {
	t.Parallel()
	var s served
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		revision       string
		at             time.Duration
		before, within int
	}{
		{"a", 0, 0, 1}, {"a", 900 * time.Millisecond, 1, 2}, {"b", 950 * time.Millisecond, 0, 1}, {"a", time.Second, 2, 1}, {"a", 1999 * time.Millisecond, 3, 2},
	} {
		if before, within := s.next(c.revision, noon.Add(c.at)); before != c.before || within != c.within {
			t.Errorf("request %d: %d before, %d within its second, want %d and %d", i, before, within, c.before, c.within)
		}
	}
}
