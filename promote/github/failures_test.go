package github_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/github"
)

// direct calls a handler without a network, so that time can be simulated.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	if r.Body == nil { // a server's requests have one
		r.Body = http.NoBody
	}
	d.handler.ServeHTTP(recorder, r)
	return recorder.Result(), r.Context().Err()
}

// refuseWrites makes every POST of a comment fail as told, times times.
func refuseWrites(times int, fault func(http.ResponseWriter)) (*githubtest.Server, *atomic.Int64) {
	s, count := newServer(), new(atomic.Int64)
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPost || r.URL.Path == "/graphql" || count.Add(1) > int64(times) {
			return false
		}
		fault(w)
		return true
	}
	return s, count
}

func TestFailuresAreExplained(t *testing.T) {
	t.Parallel()
	const asked = "commenting on pull request 7 of acme/shop: "
	for _, c := range []struct {
		status  int
		message string
		want    string
	}{
		{401, "Bad credentials", "GitHub answered 401 Unauthorized: Bad credentials; the token is wrong or has expired"},
		{403, "Resource not accessible by integration", "GitHub answered 403 Forbidden: Resource not accessible by integration; the token needs the permission pull-requests: write"},
		{403, "You cannot comment on a locked issue.", "GitHub answered 403 Forbidden: You cannot comment on a locked issue; the token needs the permission pull-requests: write"},
		{404, "Not Found", "GitHub answered 404 Not Found: Not Found; it does not exist, or the token cannot see it"},
		{410, "This issue was deleted", "GitHub answered 410 Gone: This issue was deleted"},
		{422, "Unable to create comment because issue is locked", "GitHub answered 422 Unprocessable Entity: Unable to create comment because issue is locked"},
		{451, "Repository access blocked", "GitHub answered 451 Unavailable For Legal Reasons: Repository access blocked"},
		{500, "", "GitHub answered 500 Internal Server Error"},
		{502, "Server Error", "GitHub answered 502 Bad Gateway: Server Error"},
		{403, "evil " + token + "\n::set-output name=x::y\x1b[31m\u202e", "GitHub answered 403 Forbidden: evil *** ::set-output name=x::y [31m ; the token needs the permission pull-requests: write"},
		{403, strings.Repeat("x", 1000), "GitHub answered 403 Forbidden:…"}, // half a word may be half a secret
		{403, strings.Repeat("x ", 1000), "GitHub answered 403 Forbidden: " + strings.TrimSpace(strings.Repeat("x ", 135)) + "…"},
	} {
		s, count := refuseWrites(99, func(w http.ResponseWriter) { githubtest.Refuse(w, c.status, c.message) })
		err := newClient(t, github.Config{Transport: direct{s}}).Upsert(t.Context(), 7, marker, marker)
		if err == nil || err.Error() != asked+c.want {
			t.Errorf("%d: got  %v\nwant %s", c.status, err, asked+c.want)
		}
		if count.Load() != 1 {
			t.Errorf("%d: %d tries of a write that may have happened", c.status, count.Load())
		}
	}
}

func TestAnswersThatAreNoAPI(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		handler    http.HandlerFunc
	}{
		{"login page", "invalid character '<'", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>log in") }},
		{"empty", "the answer is empty", func(http.ResponseWriter, *http.Request) {}},
		{"endless", "the answer is larger than 16 MiB", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 16<<20+1)) }},
		{"other host", "the API redirects to another host, evil.example", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusTemporaryRedirect)
		}},
		{"other scheme", "the API redirects to another host, api.github.com", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://api.github.com"+r.URL.Path, http.StatusMovedPermanently)
		}},
		{"circle", "the API redirects in a circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}},
	} {
		var elsewhere []string
		handler := func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Scheme != "https" || r.URL.Host != "api.github.com" {
				elsewhere = append(elsewhere, r.URL.String())
			}
			c.handler(w, r)
		}
		synctest.Test(t, func(t *testing.T) {
			_, err := newClient(t, github.Config{Transport: direct{http.HandlerFunc(handler)}}).PullRequestOf(t.Context(), "abc")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want %s", c.name, err, c.want)
			}
		})
		if len(elsewhere) > 0 {
			t.Errorf("%s: asked %v", c.name, elsewhere)
		}
	}
}

func TestRedirectOfAWriteIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := refuseWrites(99, func(w http.ResponseWriter) {
		w.Header().Set("Location", "/repositories/1/issues/7/comments")
		w.WriteHeader(http.StatusPermanentRedirect)
	})
	err := newClient(t, github.Config{Transport: direct{s}}).Upsert(t.Context(), 7, marker, marker)
	if err == nil || !strings.Contains(err.Error(), "was the repository renamed?") {
		t.Errorf("got %v", err)
	}
}

func TestRenamedRepositoryIsReadByItsNewAddress(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddPull(githubtest.Pull{Number: 5, State: "open", Head: "abc"})
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.RawQuery == "moved" || strings.HasPrefix(r.URL.Path, "/repos/acme/shop") && r.URL.Query().Has("per_page") {
			http.Redirect(w, r, r.URL.Path, http.StatusMovedPermanently)
			return true
		}
		return false
	}
	got, err := serve(t, s, "").PullRequestOf(t.Context(), "abc")
	if got != 5 || err != nil {
		t.Errorf("PullRequestOf = %d, %v, want 5", got, err)
	}
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	refuse := func(status int, message string, headers ...string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			for i := 0; i < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			githubtest.Refuse(w, status, message)
		}
	}
	inThirty := func(form func(time.Time) string) string { return form(time.Date(2000, 1, 1, 0, 0, 30, 0, time.UTC)) }
	date := inThirty(func(at time.Time) string { return at.Format(http.TimeFormat) })
	unix := inThirty(func(at time.Time) string { return fmt.Sprint(at.Unix()) })
	past := fmt.Sprint(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	for _, c := range []struct {
		name  string
		fault func(http.ResponseWriter)
		want  time.Duration
	}{
		{"403 with seconds", refuse(403, "secondary", "Retry-After", "17"), 17 * time.Second},
		{"429 with seconds", refuse(429, "", "Retry-After", "17"), 17 * time.Second},
		{"403 with a date", refuse(403, "", "Retry-After", date), 30 * time.Second},
		{"429 with a date", refuse(429, "", "Retry-After", date), 30 * time.Second},
		{"a date in the past", refuse(429, "", "Retry-After", "Fri, 01 Jan 1999 00:00:00 GMT"), time.Second},
		{"no time at all", refuse(429, "", "Retry-After", "0"), time.Second},
		{"403 primary", refuse(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix), 30 * time.Second},
		{"429 primary", refuse(429, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", unix), 30 * time.Second},
		{"reset in the past", refuse(403, "", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", past), time.Second},
		{"403 secondary by its text", refuse(403, "You have exceeded a secondary rate limit."), time.Minute},
		{"secondary while the primary has room", refuse(403, "secondary rate limit", "X-RateLimit-Remaining", "99", "X-RateLimit-Reset", unix), time.Minute},
		{"429 bare", refuse(429, ""), time.Minute},
		{"unreadable time", refuse(403, "", "Retry-After", "soon"), time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, _ := refuseWrites(1, c.fault)
				started := time.Now()
				upsert(t, newClient(t, github.Config{Transport: direct{s}}), "one")
				if waited := time.Since(started); waited != c.want {
					t.Errorf("waited %s, want %s", waited, c.want)
				}
			})
		})
	}
}

func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, count := refuseWrites(99, func(w http.ResponseWriter) { githubtest.Refuse(w, 429, "") })
		client := newClient(t, github.Config{Transport: direct{s}, Patience: 2 * time.Minute})
		started := time.Now()
		err := client.Upsert(t.Context(), 7, marker, marker)
		want := "commenting on pull request 7 of acme/shop: rate limited (429); not waiting 2m0s for another try"
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if waited := time.Since(started); waited != time.Minute {
			t.Errorf("waited %s, want 1m0s", waited)
		}
		sent := count.Load()
		err = client.Upsert(t.Context(), 7, marker, marker)
		if err == nil || !strings.Contains(err.Error(), "GitHub asked not to be called before 00:03:00 UTC") || count.Load() != sent {
			t.Errorf("while the limit lasts: got %v after %d more requests", err, count.Load()-sent)
		}
	})
}

func TestWaitingFitsTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := refuseWrites(99, func(w http.ResponseWriter) { githubtest.Refuse(w, 429, "") })
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		started := time.Now()
		err := newClient(t, github.Config{Transport: direct{s}}).Upsert(ctx, 7, marker, marker)
		if err == nil || time.Since(started) != 0 {
			t.Errorf("got %v after %s, want an error at once", err, time.Since(started))
		}
	})
}

// silent never answers.
type silent struct{ count atomic.Int64 }

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	s.count.Add(1)
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestSilentServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server, started := &silent{}, time.Now()
		_, err := newClient(t, github.Config{Transport: server}).PullRequestOf(t.Context(), "abc")
		want := `looking up the pull request of commit "abc": no answer within 20s`
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if waited := time.Since(started); waited != 63*time.Second || server.count.Load() != 3 {
			t.Errorf("%d tries in %s, want 3 in 1m3s", server.count.Load(), waited)
		}
	})
}

func TestPassingTroubleOfReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, failed := newServer(), 0
		s.AddPull(githubtest.Pull{Number: 5, State: "open", Head: "abc"})
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			failed++
			if failed < 3 {
				githubtest.Refuse(w, http.StatusBadGateway, "")
			}
			return failed < 3
		}
		got, err := newClient(t, github.Config{Transport: direct{s}}).PullRequestOf(t.Context(), "abc")
		if got != 5 || err != nil {
			t.Errorf("PullRequestOf = %d, %v, want 5", got, err)
		}
	})
}
