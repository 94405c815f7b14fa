package gitops_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/gitops/remote"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

func TestOpenErrors(t *testing.T) {
	t.Parallel()
	const forms = ", expected https://HOST/PATH, ssh://git@HOST/PATH, git@HOST:PATH, or a local path that starts with / or ./"
	urls := map[string]string{
		"":                                    `repository "": it has no scheme`,
		"acme/infra":                          `repository "acme/infra": it has no scheme`,
		"github.com/acme/infra":               `repository "github.com/acme/infra": it has no scheme`,
		"https://h/a b":                       `repository "https://h/a b": it has blanks or control characters`,
		"https://h/a\n::add-mask::":           `repository "https://h/a ::add-mask::": it has blanks or control characters`,
		"https:///infra":                      `repository "https:///infra": it has no host`,
		"https://h":                           `repository "https://h": it has no path to a repository`,
		"git://h/infra":                       `repository "git://h/infra": the scheme git is not supported`,
		"ext::sh -c x":                        `repository "ext::sh -c x": it has blanks or control characters`,
		"ftp://h/x":                           `repository "ftp://h/x": the scheme ftp is not supported`,
		"file://h/x":                          `repository "file://h/x": a file URL has no host`,
		"https://s3cr3t@h/infra":              `repository "https://h/infra": it holds credentials: give the token on its own`,
		"https://user:s3cr3t@h/infra":         `repository "https://h/infra": it holds credentials: give the token on its own`,
		"ssh://git:s3cr3t@h/infra":            `repository "ssh://h/infra": it holds credentials: give the token on its own`,
		"https://user:s3cr3t%zz@h/infra":      `repository "https://h/infra": it cannot be read`,
		"https://h/infra?access_token=s3cr3t": `repository "https://h/infra": it has a query or a fragment`,
		"git@h:-oProxyCommand":                `repository "git@h:-oProxyCommand": it has no path to a repository`,
		"--upload-pack=touch":                 `repository "--upload-pack=touch": it has no scheme`,
	}
	for url, want := range urls {
		_, err := gitops.Open(remote.Config{URL: url, Branch: "main"})
		if err == nil || err.Error() != want+forms {
			t.Errorf("%q: error\n%v\nwant\n%s", url, err, want+forms)
		}
		if err != nil && strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%q: the error shows the credential", url)
		}
	}
	for _, branch := range []string{"", "refs/heads/main", "-main", "a..b", "a b", "a\nb"} {
		_, err := gitops.Open(remote.Config{URL: "https://h/infra", Branch: branch})
		want := fmt.Sprintf("branch %q: expected the short name of a branch, such as main", strings.ReplaceAll(branch, "\n", " "))
		if err == nil || err.Error() != want {
			t.Errorf("branch %q: error %v, want %s", branch, err, want)
		}
	}
}

const token = "ghs_s3cr3t"

func TestAuth(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if _, err := (gittest.Repository{}).Init(root, "infra.git", infra()); err != nil {
		t.Fatal(err)
	}
	url, stop, err := (&gittest.Server{Root: root, Token: token}).Serve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	url += "/infra.git"
	if _, err := open(t, remote.Config{URL: url, Branch: "main", Token: token}).Publish(t.Context(), write("new", "x")); err != nil {
		t.Error(err)
	}
	for wrong, fix := range map[string]string{
		"":          "no token was given: give one that may read and write the repository",
		"ghs_0ther": "check that the token or key is valid and may read and write the repository",
	} {
		_, err := open(t, remote.Config{URL: url, Branch: "main", Token: wrong}).Tip(t.Context())
		want := "reading " + url + ": access denied: " + fix + " (authentication required: invalid username or token)"
		if !errors.Is(err, remote.ErrAuth) || err.Error() != want {
			t.Errorf("token %q: error %v, want %s", wrong, err, want)
		}
	}
}

// TestAnswers maps what a server may answer to what the user is told. Each
// server repeats the token, which no error may show.
func TestAnswers(t *testing.T) {
	t.Parallel()
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	tests := map[string]struct {
		answer http.HandlerFunc
		is     error
		want   string
	}{
		"401": {say(401, "no "+token+"\n::error::x"), remote.ErrAuth, "access denied: check that the token or key is valid and may read and write the repository (authentication required: no *** ::error::x)"},
		"403": {say(403, "not you"), remote.ErrAuth, "access denied: check that the token or key is valid and may read and write the repository (authorization failed: not you)"},
		"404": {say(404, token), remote.ErrNotFound, "not found: check the address, and that the token or key may see it"},
		"endless error": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			for range 1 << 10 {
				fmt.Fprint(w, strings.Repeat("xxx ", 1<<8))
			}
		}, remote.ErrAuth, "access denied: check that the token or key is valid and may read and write the repository (authentication required: " + strings.TrimSpace(strings.Repeat("xxx ", 94)) + "…)"},
		"login page": {say(200, "<html>"+token), nil, `invalid pkt-len found`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(test.answer)
			defer s.Close()
			_, err := open(t, remote.Config{URL: s.URL + "/infra", Branch: "main", Token: token}).Tip(t.Context())
			if err == nil || err.Error() != "reading "+s.URL+"/infra: "+test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("error %v is not %v", err, test.is)
			}
		})
	}
}

func TestRetriesReading(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if requests.Add(1)%2 == 1 {
				http.Error(w, "later", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	if _, err := s.open(t).Tip(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if old, ok := strings.CutPrefix(r.URL.Path, "/renamed.git/"); ok {
				http.Redirect(w, r, "/infra.git/"+old+"?"+r.URL.RawQuery, http.StatusMovedPermanently)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	renamed := strings.Replace(s.url, "infra.git", "renamed.git", 1)
	if _, err := open(t, remote.Config{URL: renamed, Branch: "main", Token: token}).Publish(t.Context(), write("new", "x")); err != nil {
		t.Errorf("renamed on the same host: %v", err)
	}

	var asked atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer other.Close()
	from := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL+r.URL.String(), http.StatusFound)
	}))
	defer from.Close()
	_, err := open(t, remote.Config{URL: from.URL + "/infra", Branch: "main", Token: token}).Tip(t.Context())
	want := "the server redirects to another host, " + strings.TrimPrefix(other.URL, "http://") + ": give that address if it is right"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if got := asked.Load(); got != 0 {
		t.Errorf("the other host was asked %d times", got)
	}
}

// TestSilentServer accepts a connection and never answers, over each protocol.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	addr := listener.Addr().String()
	key := newKey(t)
	for _, remote := range []remote.Config{
		{URL: "http://" + addr + "/infra"},
		{URL: "ssh://git@" + addr + "/infra", SSHKey: key.private, KnownHosts: key.knownHost(addr)},
	} {
		remote.Branch, remote.Timeout = "main", 200*time.Millisecond
		_, err := open(t, remote).Tip(t.Context())
		want := "reading " + remote.URL + ": no answer within 200ms: context deadline exceeded"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// TestDrip answers one byte at a time, for ever.
func TestDrip(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, infra(), func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				next.ServeHTTP(w, r)
				return
			}
			fmt.Fprint(w, "0008NAK\n")
			for r.Context().Err() == nil {
				fmt.Fprint(w, "0006\x02.")
				_ = http.NewResponseController(w).Flush()
			}
		})
	})
	_, err := open(t, remote.Config{URL: s.url, Branch: "main", Timeout: 300 * time.Millisecond}).Tip(t.Context())
	want := "reading " + s.url + ": no answer within 300ms: context deadline exceeded"
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestEmptyRepository(t *testing.T) {
	t.Parallel()
	s := serve(t, gittest.Repository{}, nil, nil)
	_, err := s.open(t).Tip(t.Context())
	want := "reading " + s.url + ": not found: the repository is empty, push a first commit"
	if !errors.Is(err, remote.ErrNotFound) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for name, made := range kinds() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, made, infra(), nil)
			s.grow(t, 50)
			for i, url := range []string{s.dir, "file://" + s.dir} {
				r := open(t, remote.Config{URL: url, Branch: "main"})
				if _, err := r.Publish(t.Context(), write("new", fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
				if _, err := r.At(t.Context(), s.git(t, "rev-parse", "main~45")); err != nil {
					t.Error(err)
				}
			}
			if got := s.git(t, "show", "main:new"); got != "1" {
				t.Errorf("the file holds %q", got)
			}
		})
	}
	_, err := open(t, remote.Config{URL: "/absent/infra.git", Branch: "main"}).Tip(t.Context())
	want := "reading /absent/infra.git: not found: check the address, and that the token or key may see it"
	if !errors.Is(err, remote.ErrNotFound) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
