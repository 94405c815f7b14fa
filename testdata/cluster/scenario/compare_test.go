//go:build cluster

package scenario

import (
	"slices"
	"testing"
	"time"
)

// TestCompare: a candidate that answers the same requests with something else is
// caught before any user meets it, and one that answers the same passes.
func TestCompare(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.promote("v1.0.0-score90", "steps=100").exits(0)
	good := s.git("rev-parse", "main")
	users := s.listen(s.host(), 20*time.Millisecond)
	compare := "compare=/api/items status,json ignore=revision,image,waited"
	for _, c := range []struct{ tag, says string }{
		{"v2.0.0-score90-http404", "compare: failed: /api/items: of 20 rounds the status differs in 20, 404 Not Found instead of 200 OK"},
		{"v2.1.0", "compare: failed: /api/items: of 20 rounds 1 field differs: score in 20 (missing)"},
		{"v2.2.0-score91", "compare: failed: /api/items: of 20 rounds 1 field differs: score in 20"},
	} {
		s.promote(c.tag, "steps=50,100", "probe=", compare).exits(8).says("candidate: gate compare: ", c.says)
		s.restored(good, "v1.0.0-score90")
	}
	if other := slices.IndexFunc(users.end(), func(h heard) bool { return h.tag() != "v1.0.0-score90" }); other >= 0 {
		t.Errorf("a user was answered by %+v", users.all[other])
	}
	s.promote("v3.0.0-score90", "steps=50,100", compare).exits(0).says("compare: passed: /api/items: 60 requests (200 OK), nothing differs")
	s.settled("v3.0.0-score90")
}
