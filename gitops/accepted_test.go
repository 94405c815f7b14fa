package gitops_test

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestRefusedAfterLetIn reads, or pushes, and then is refused what it was
// allowed: for a moment, which does not matter, or from then on.
func TestRefusedAfterLetIn(t *testing.T) {
	t.Parallel()
	const revoked = "access denied: check that the token or key is valid and may read and write the repository (authentication required: Bad credentials)"
	const hidden = "access denied: not found, though it was there before: is the token revoked, or the repository moved or deleted?"
	tests := map[string]struct {
		status   int
		refusals int32
		concerns func(*http.Request) bool
		want     string // with the address between
	}{
		"reading, 401, once":    {http.StatusUnauthorized, 1, isRead, ""},
		"reading, 404, once":    {http.StatusNotFound, 1, isRead, ""},
		"reading, 403, once":    {http.StatusForbidden, 1, isRead, ""},
		"reading, 401, from on": {http.StatusUnauthorized, 99, isRead, "reading URL: " + revoked},
		"reading, 404, from on": {http.StatusNotFound, 99, isRead, "reading URL: " + hidden},
		"pushing, 401, once":    {http.StatusUnauthorized, 1, isPush, ""},
		"pushing, 401, from on": {http.StatusUnauthorized, 99, isPush, "pushing to URL: " + revoked},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refuse atomic.Int32
			s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if test.concerns(r) && refuse.Add(-1) >= 0 {
						http.Error(w, "Bad credentials", test.status)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			r := open(t, remote.Config{URL: s.url, Branch: "main", Token: token})
			if _, err := r.Publish(t.Context(), write("first", "1")); err != nil {
				t.Fatal(err)
			}
			refuse.Store(test.refusals)
			_, err := r.Publish(t.Context(), write("second", "2"))
			want := strings.Replace(test.want, "URL", s.url, 1)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.Is(err, remote.ErrAuth) || err.Error() != want):
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
}

func isRead(r *http.Request) bool { return r.URL.Query().Get("service") == "git-upload-pack" }
