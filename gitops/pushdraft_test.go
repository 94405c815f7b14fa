package gitops_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// TestPublishOnce shows that a change is one commit whatever happens to the
// answers of the server.
func TestPublishOnce(t *testing.T) {
	t.Parallel()
	tests := map[string]func(w http.ResponseWriter, r *http.Request, next http.Handler){
		"reply lost after the push was applied": func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		},
		"502 after the push was applied": func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), r)
			http.Error(w, "bad gateway", http.StatusBadGateway)
		},
		"connection cut before the push was applied": func(http.ResponseWriter, *http.Request, http.Handler) {
			panic(http.ErrAbortHandler)
		},
		"empty answer": func(http.ResponseWriter, *http.Request, http.Handler) {},
		"empty answer after the push was applied": func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), r)
		},
		"503": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "later", http.StatusServiceUnavailable)
		},
		"login page": func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			fmt.Fprint(w, "<html>Sign in</html>")
		},
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, gittest.Repository{}, infra(), on(1, answer))
			got, err := s.open(t).Publish(t.Context(), write("new", "content"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Write new", "Start the infra repository"}, s.subjects(t)); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if tip := s.git(t, "rev-parse", "main"); got.Hash != tip {
				t.Errorf("published %s, the tip is %s", got.Hash, tip)
			}
		})
	}
}

// TestPublishLostReplyAndRival: the push lands, its answer is lost, and others
// commit on top. The tip shows what the change wanted: no second commit.
func TestPublishLostReplyAndRival(t *testing.T) {
	t.Parallel()
	var s server
	s = serve(t, gittest.Repository{}, infra(), on(1, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		s.rival(t, "theirs", "1")
		s.rival(t, "theirs", "2")
		panic(http.ErrAbortHandler)
	}))
	got, err := s.open(t).Publish(t.Context(), write("new", "content"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Rival", "Rival", "Write new", "Start the infra repository"}, s.subjects(t)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if want := s.git(t, "rev-parse", "main"); got.Hash != want || got.Subject != "Rival" {
		t.Errorf("published %s %q, want the tip, %s", got.Hash, got.Subject, want)
	}
}

// TestPublishLostReplyAndChange: the push lands, its answer is lost, and
// somebody changes the same file. What the change wanted is not there.
func TestPublishLostReplyAndChange(t *testing.T) {
	t.Parallel()
	var s server
	s = serve(t, gittest.Repository{}, infra(), on(1, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		s.rival(t, "new", "theirs")
		panic(http.ErrAbortHandler)
	}))
	got, err := s.open(t).Publish(t.Context(), write("new", "content"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Write new", "Rival", "Write new", "Start the infra repository"}, s.subjects(t)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if want := s.git(t, "rev-parse", "main"); got.Hash != want {
		t.Errorf("published %s, want the tip, %s", got.Hash, want)
	}
}

// TestPublishUnchangedAfterRefusal: a rival makes the same change first, and the
// server says no to ours. That one was never on the branch.
func TestPublishUnchangedAfterRefusal(t *testing.T) {
	t.Parallel()
	var s server
	s = serve(t, gittest.Repository{}, infra(), on(1, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		s.rival(t, "new", "content")
		next.ServeHTTP(w, r)
	}))
	if _, err := s.open(t).Publish(t.Context(), write("new", "content")); !errors.Is(err, gitops.ErrUnchanged) {
		t.Errorf("error %v, want ErrUnchanged", err)
	}
	if diff := cmp.Diff([]string{"Rival", "Start the infra repository"}, s.subjects(t)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

func TestPublishEmptyAnswersOnly(t *testing.T) {
	t.Parallel()
	var pushes atomic.Int32
	s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isPush(r) {
				pushes.Add(1)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	_, err := open(t, remote.Config{URL: s.url, Branch: "main", Patience: time.Nanosecond}).Publish(t.Context(), write("new", "content"))
	want := "pushing to " + s.url + ": the server answered, but the branch has not changed"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if got := pushes.Load(); got != 4 {
		t.Errorf("%d pushes, want 4", got)
	}
}

// TestPublishAfterForcePush: the push lands, its answer is lost, and somebody
// replaces the branch by a history without it.
func TestPublishAfterForcePush(t *testing.T) {
	t.Parallel()
	var s server
	s = serve(t, gittest.Repository{}, infra(), on(1, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		next.ServeHTTP(httptest.NewRecorder(), r)
		s.git(t, "update-ref", "-d", "refs/heads/main")
		s.rival(t, "README.md", "another history")
		panic(http.ErrAbortHandler)
	}))
	if _, err := s.open(t).Publish(t.Context(), write("new", "content")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Write new", "Rival"}, s.subjects(t)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
}

// TestPublishUnknownOutcome: the answer is lost and the branch cannot be read.
func TestPublishUnknownOutcome(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if down.Load() {
				http.Error(w, "down", http.StatusServiceUnavailable)
				return
			}
			if isPush(r) {
				down.Store(true)
				next.ServeHTTP(httptest.NewRecorder(), r)
				panic(http.ErrAbortHandler)
			}
			next.ServeHTTP(w, r)
		})
	})
	_, err := open(t, remote.Config{URL: s.url, Branch: "main", Patience: time.Second}).Publish(t.Context(), write("new", "content"))
	want := "commit " + s.git(t, "rev-parse", "main") + " was sent, but whether the branch has it is not known: reading " + s.url
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestPublishCancelled ends the context while the server holds the answer to a
// push that it has applied: the caller must learn that the branch has it.
func TestPublishCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, gittest.Repository{}, infra(), on(1, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		applied := r.Clone(context.WithoutCancel(r.Context()))
		applied.Body = readCloser{body}
		next.ServeHTTP(httptest.NewRecorder(), applied)
		cancel()
		<-r.Context().Done()
	}))
	got, err := s.open(t).Publish(ctx, write("new", "content"))
	if err != nil {
		t.Fatal(err)
	}
	if tip := s.git(t, "rev-parse", "main"); got.Hash != tip {
		t.Errorf("published %s, the tip is %s", got.Hash, tip)
	}
}

// TestPublishCancelledBehindRival is that with a commit of somebody else on top:
// whether ours is beneath is not known.
func TestPublishCancelledBehindRival(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var s server
	s = serve(t, gittest.Repository{}, infra(), on(1, func(_ http.ResponseWriter, r *http.Request, next http.Handler) {
		body := new(bytes.Buffer)
		_, _ = body.ReadFrom(r.Body)
		applied := r.Clone(context.WithoutCancel(r.Context()))
		applied.Body = readCloser{body}
		next.ServeHTTP(httptest.NewRecorder(), applied)
		s.rival(t, "theirs", "1")
		cancel()
		<-r.Context().Done()
	}))
	_, err := s.open(t).Publish(ctx, write("new", "content"))
	want := "commit " + s.git(t, "rev-parse", "main~1") + " was sent, but whether the branch has it is not known: context canceled"
	if !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

type readCloser struct{ *bytes.Buffer }

func (readCloser) Close() error { return nil }
