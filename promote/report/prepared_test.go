package report

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/internal/fake/golden"
)

// prepared is a Service of a pull request.
func prepared(overlay, from, to string, change func(*PreparedService)) PreparedService {
	s := PreparedService{Target: target("shop", "", overlay, ""), From: from, To: to}
	change(&s)
	return s
}

// TestPreparedComment shows the comment of each way that prepare ends.
func TestPreparedComment(t *testing.T) {
	t.Parallel()
	none := func(*PreparedService) {}
	candidate := prepared("apps/shop/production", "shop-8a71e0c4", "shop-3f9c2d1e", none)
	for name, page := range map[string]Prepared{
		"pushed": {Services: []PreparedService{
			candidate,
			prepared("apps/shop/staging", "", "", func(s *PreparedService) { s.Skipped = "it is not pinned" }),
			prepared("apps/shop/test", "shop-8a71e0c4", "shop-8a71e0c4", none),
			prepared("apps/shop/broken", "", "", func(s *PreparedService) { s.Err = errors.New("overlay apps/shop/broken does not render") }),
		}, Commit: "3f9c2d1e8a71e0c4b0d5f2a96c1e7d3b4a5f6071", CommitURL: "https://github.com/acme/infra/commit/"},
		"there":     {Services: []PreparedService{candidate}},
		"withdrawn": {Services: []PreparedService{prepared("apps/shop/production", "", "", func(s *PreparedService) { s.Withdrawn = true })}, Commit: "3f9c2d1e8a71"},
		"suggested": {Services: []PreparedService{candidate}, Refused: "it is a fork's pull request", Suggestion: []File{
			{Name: "apps/shop/production/knative-promote-shop.yaml", Before: []byte("a: 1\nb: 2\n"), After: []byte("a: 1\nb: 3\n")},
			{Name: "apps/shop/production/knative-promote-shop.defaults.yaml", After: []byte("- op: add\n")},
		}},
		"behind": {Services: []PreparedService{candidate}, Refused: "branch main has changed the template of shop since the pull request began"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			comment := PreparedComment(page)
			if !strings.HasPrefix(comment, PreparedMarker+"\n") {
				t.Errorf("comment does not start with its marker: %.80q", comment)
			}
			checkPage(t, comment, CommentLimit)
			golden.File(t, "testdata/prepared/"+name+".md", comment)
		})
	}
}

// TestPreparedIsBounded has more to say than there is room for.
func TestPreparedIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long ", 1000)
	page := Prepared{
		Services:   slices.Repeat([]PreparedService{prepared(long, long, long+"2", func(s *PreparedService) { s.Skipped = long })}, 100),
		Refused:    long,
		Suggestion: []File{{Name: "f", After: []byte(strings.Repeat("x: 1\n", 20_000))}},
	}
	comment := PreparedComment(page)
	checkPage(t, comment, CommentLimit)
	for _, want := range []string{"80 more Services in the log", "The change is too long to show here."} {
		if !strings.Contains(comment, want) {
			t.Errorf("the comment does not say %q", want)
		}
	}
}
