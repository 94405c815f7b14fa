package gitops_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/gittest"
)

// unavailable answers with 503 as long as there are tries left.
func unavailable(left *atomic.Int32) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if left.Add(-1) >= 0 {
				http.Error(w, "restarting", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// TestPublishWhileAway has a server that is away for more tries than one that
// answers badly gets: before it is read, while it is pushed to, and when it has
// taken the push and is looked at again.
func TestPublishWhileAway(t *testing.T) {
	t.Parallel()
	const tries = 6
	for name, push := range map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler, left *atomic.Int32){
		"before": nil,
		"pushing": func(w http.ResponseWriter, _ *http.Request, _ http.Handler, left *atomic.Int32) {
			left.Store(tries)
			http.Error(w, "restarting", http.StatusServiceUnavailable)
		},
		"pushed": func(_ http.ResponseWriter, r *http.Request, next http.Handler, left *atomic.Int32) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			left.Store(tries)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var left atomic.Int32
			first := on(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if push == nil {
					next.ServeHTTP(w, r)
					return
				}
				push(w, r, next, &left)
			})
			s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
				return unavailable(&left)(first(next))
			})
			r := s.open(t)
			if _, err := r.Tip(t.Context()); err != nil {
				t.Fatal(err)
			}
			if push == nil {
				left.Store(tries)
			}
			if _, err := r.Publish(t.Context(), write("new", "content")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Write new", "Start the infra repository"}, s.subjects(t)); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if left.Load() >= 0 {
				t.Error("the server was not away for as long as it should have been")
			}
		})
	}
}

// TestNeverThere gives up soon where nobody has ever answered: the address may
// be wrong.
func TestNeverThere(t *testing.T) {
	t.Parallel()
	var left atomic.Int32
	left.Store(100)
	s := serve(t, gittest.Repository{}, infra(), unavailable(&left))
	if _, err := s.open(t).Tip(t.Context()); err == nil {
		t.Error("no error")
	}
	if asked := 100 - left.Load(); asked != 4 {
		t.Errorf("asked %d times, want 4", asked)
	}
}
