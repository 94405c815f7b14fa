package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/github"
)

// appServer has an App on acme/infra with numbered tokens.
func appServer(minted *int) *githubtest.Server {
	return &githubtest.Server{Repository: "acme/shop", Token: token, App: &githubtest.App{
		ID: "4711", Repository: "acme/infra", Life: time.Hour,
		Token: func() string { *minted++; return fmt.Sprintf("ghs_%d", *minted) },
	}}
}

func newApp(t *testing.T, id, repository string, handler http.Handler) *github.App {
	t.Helper()
	app, err := github.NewApp(id, githubtest.AppPEM(), github.Config{Repository: repository, Transport: direct{handler}})
	if err != nil {
		t.Fatal(err)
	}
	return app
}

// TestAppRenewsItsToken asks for a token every five minutes for three hours.
func TestAppRenewsItsToken(t *testing.T) {
	githubtest.AppKey() // outside of the simulated time
	synctest.Test(t, func(t *testing.T) {
		minted := 0
		s := appServer(&minted)
		app := newApp(t, "4711", "acme/infra", s)
		ends := map[string]time.Time{}
		for range 36 {
			token, err := app.Token(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, known := ends[token]; !known {
				ends[token] = time.Now().Add(time.Hour)
			}
			if left := time.Until(ends[token]); left < 10*time.Minute {
				t.Errorf("%s is over in %s", token, left)
			}
			time.Sleep(5 * time.Minute)
		}
		if minted != 4 {
			t.Errorf("%d tokens in three hours, want 4", minted)
		}
	})
}

// TestAppKeepsATokenThatIsGood does without GitHub while the token lasts.
func TestAppKeepsATokenThatIsGood(t *testing.T) {
	githubtest.AppKey() // outside of the simulated time
	synctest.Test(t, func(t *testing.T) {
		minted := 0
		s := appServer(&minted)
		app := newApp(t, "4711", "acme/infra", s)
		first, err := app.Token(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
			githubtest.Refuse(w, http.StatusForbidden, "no")
			return true
		}
		time.Sleep(55 * time.Minute)
		if again, err := app.Token(t.Context()); again != first || err != nil {
			t.Errorf("five minutes before its end: %q, %v", again, err)
		}
		time.Sleep(10 * time.Minute)
		if _, err := app.Token(t.Context()); !errors.Is(err, github.ErrApp) {
			t.Errorf("after its end: %v", err)
		}
	})
}

func TestAppGetsNoToken(t *testing.T) {
	githubtest.AppKey() // outside of the simulated time
	const asked = "asking for a token of the GitHub App: no token for the GitHub App: "
	for name, test := range map[string]struct {
		id, repository string
		lacks          string
		want           string
	}{
		"wrong id":      {"4712", "acme/infra", "", asked + "GitHub answered 401 Unauthorized: do app-id and app-private-key belong together?"},
		"not installed": {"4711", "acme/other", "", asked + "GitHub answered 404 Not Found: is it installed on acme/other?"},
		"may only read": {"4711", "acme/infra", "contents", asked + "GitHub answered 422 Unprocessable Entity: has it the permission contents: write?"},
	} {
		synctest.Test(t, func(t *testing.T) {
			minted := 0
			s := appServer(&minted)
			s.App.Lacks = test.lacks
			_, err := newApp(t, test.id, test.repository, s).Token(t.Context())
			if !errors.Is(err, github.ErrApp) || err.Error() != test.want {
				t.Errorf("%s: %v, want %s", name, err, test.want)
			}
		})
	}
}

func TestNewAppRefuses(t *testing.T) {
	t.Parallel()
	_, err := github.NewApp("4711", []byte("no key"), github.Config{Repository: "acme/infra"})
	if err == nil || !strings.Contains(err.Error(), "expected an RSA private key in PEM") {
		t.Errorf("got %v", err)
	}
}
