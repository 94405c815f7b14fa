package gitops_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// on hands the nth push of a repository, counted from one, to answer.
func on(nth int32, answer func(w http.ResponseWriter, r *http.Request, next http.Handler)) func(http.Handler) http.Handler {
	var pushes atomic.Int32
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isPush(r) && pushes.Add(1) == nth {
				answer(w, r, next)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func isPush(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/git-receive-pack")
}

// rival commits to the branch behind the publisher's back.
func (s server) rival(t *testing.T, path, content string) {
	t.Helper()
	files := fstest.MapFS{path: {Data: []byte(content)}}
	if err := gittest.Commit(s.dir, "main", "Rival", files); err != nil {
		t.Fatal(err)
	}
}

func (s server) subjects(t *testing.T) []string {
	t.Helper()
	return strings.Split(s.git(t, "log", "--format=%s", "main"), "\n")
}

func TestPublishAfterLostRace(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	var tips []string
	change := write("apps/web/overlays/prod/k.yaml", "mine")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		tips = append(tips, tip.Commit.Subject)
		if len(tips) == 1 {
			s.rival(t, "apps/web/overlays/prod/p/a.txt", "theirs")
		}
		return edit(tip)
	}
	if _, err := s.open(t).Publish(t.Context(), change); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Start the infra repository", "Rival"}, tips); diff != "" {
		t.Errorf("tips that were edited (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{change.Subject, "Rival", "Start the infra repository"}, s.subjects(t)); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	if got := s.git(t, "show", "main:apps/web/overlays/prod/p/a.txt"); got != "theirs" {
		t.Errorf("the rival's file holds %q", got)
	}
}

func TestPublishRefused(t *testing.T) {
	t.Parallel()
	var pushes atomic.Int32
	hook := `printf 'error:\nerror: GH006: Protected branch update failed for refs/heads/main.\033[31m\n::error::forged\nerror:\n' >&2; exit 1`
	s := serve(t, gittest.Repository{Hooks: map[string]string{"pre-receive": hook}}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isPush(r) {
				pushes.Add(1)
			}
			next.ServeHTTP(w, r)
		})
	})
	_, err := s.open(t).Publish(t.Context(), write("new", "content"))
	if !errors.Is(err, remote.ErrRefused) {
		t.Fatalf("error %v, want ErrRefused", err)
	}
	want := "pushing to " + s.url + ": refused by the server: pre-receive hook declined: " +
		"GH006: Protected branch update failed for refs/heads/main. [31m ::error::forged: let the token's owner push to the branch, or change the rule"
	if err.Error() != want {
		t.Errorf("error\n%s\nwant\n%s", err, want)
	}
	if got := pushes.Load(); got != 1 {
		t.Errorf("%d pushes, want 1", got)
	}
}

func TestPublishUnchanged(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	for _, change := range []gitops.Change{
		write("README.md", "infra\n"),
		{Subject: "s", Edit: func(gitops.Snapshot) (map[string][]byte, error) { return nil, nil }},
		{Subject: "s", Edit: func(gitops.Snapshot) (map[string][]byte, error) {
			return map[string][]byte{"apps/absent/file": nil}, nil
		}},
	} {
		if _, err := s.open(t).Publish(t.Context(), change); !errors.Is(err, gitops.ErrUnchanged) {
			t.Errorf("error %v, want ErrUnchanged", err)
		}
	}
	if got := len(s.subjects(t)); got != 1 {
		t.Errorf("%d commits, want 1", got)
	}
}

func TestPublishEditFails(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	broken := errors.New("no such overlay")
	_, err := s.open(t).Publish(t.Context(), gitops.Change{Subject: "s", Edit: func(gitops.Snapshot) (map[string][]byte, error) {
		return nil, broken
	}})
	want := fmt.Sprintf("editing commit %.12s: no such overlay", s.git(t, "rev-parse", "main"))
	if !errors.Is(err, broken) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestPublishContention has a rival that wins every race.
func TestPublishContention(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		attempts int
		timeout  time.Duration
	}{
		"attempts": {attempts: 3},
		"time":     {attempts: 1 << 20, timeout: time.Second},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, gittest.Repository{}, infra(), nil)
			r := s.open(t)
			r.PublishAttempts, r.PublishTimeout = test.attempts, test.timeout
			edits := 0
			change := gitops.Change{Subject: "s", Edit: func(gitops.Snapshot) (map[string][]byte, error) {
				edits++
				s.rival(t, "theirs", fmt.Sprint(edits))
				return map[string][]byte{"mine": []byte("mine")}, nil
			}}
			_, err := r.Publish(t.Context(), change)
			if !errors.Is(err, gitops.ErrContention) {
				t.Fatalf("error %v, want ErrContention", err)
			}
			if test.timeout == 0 {
				want := "publishing to branch main: the branch keeps moving: other commits came first 3 times: run again when fewer are made"
				if err.Error() != want || edits != 3 {
					t.Errorf("after %d edits: %v\nwant after 3: %s", edits, err, want)
				}
			}
			if found := s.git(t, "log", "--format=%H", "--", "mine"); found != "" {
				t.Errorf("the change is in %s", found)
			}
		})
	}
}

func TestPublishBranchGone(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), nil)
	s.git(t, "branch", "other", "main")
	change := write("new", "content")
	edit := change.Edit
	change.Edit = func(tip gitops.Snapshot) (map[string][]byte, error) {
		s.git(t, "update-ref", "-d", "refs/heads/main")
		return edit(tip)
	}
	_, err := s.open(t).Publish(t.Context(), change)
	want := "branch main of " + s.url + ": not found: it was there before and is gone now: was it renamed or deleted?"
	if !errors.Is(err, remote.ErrNotFound) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if branches := s.git(t, "branch", "--format=%(refname:short)"); branches != "other" {
		t.Errorf("branches %q, want other alone", branches)
	}
}

// TestPublishWithoutWriteAccess may read the repository and not push to it.
func TestPublishWithoutWriteAccess(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*http.Request) bool{
		"asking":  func(r *http.Request) bool { return r.URL.Query().Get("service") == "git-receive-pack" },
		"pushing": isPush,
	}
	for name, denied := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if denied(r) {
						asked.Add(1)
						http.Error(w, "Permission to acme/infra denied to bot.", http.StatusForbidden)
						return
					}
					next.ServeHTTP(w, r)
				})
			})
			_, err := open(t, remote.Config{URL: s.url, Branch: "main", Token: token}).Publish(t.Context(), write("new", "content"))
			want := "pushing to " + s.url + ": access denied: check that the token or key is valid and may read and write the repository (authorization failed: Permission to acme/infra denied to bot.)"
			if !errors.Is(err, remote.ErrAuth) || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
			if got := asked.Load(); got != 1 {
				t.Errorf("asked %d times, want once", got)
			}
		})
	}
}

func TestPublishNeedsPersons(t *testing.T) {
	t.Parallel()
	r := open(t, remote.Config{URL: "https://h.example/infra", Branch: "main"})
	r.Author = gitops.Person{Name: "<>", Email: "a@example.com"}
	_, err := r.Publish(t.Context(), write("new", "content"))
	if want := `author "<>" <a@example.com>: expected a name and an email address`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
