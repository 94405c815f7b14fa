package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acme/knative-promote/internal/fake/strays"
)

// mayHave are the credentials that each server of a world may be sent, by its name. One that
// is not here may be sent none.
var mayHave = map[string][]string{
	"git":               {gitToken},
	"github":            {hubToken, gitToken}, // it has the API of the infra repository too
	"argocd":            {argoToken},
	"argocd of staging": {otherToken},
	"prometheus":        {prometheusToken},
}

// strayed are the credentials that servers were sent which are for others.
type strayed struct {
	mu  sync.Mutex
	all []string
}

func (s *strayed) add(stray string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, stray)
}

func (s *strayed) found() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	return errors.New(strings.Join(s.all, "\n"))
}

// recorded is a server whose requests are looked at for credentials that are for others.
func (w *world) recorded(server string, next http.Handler) http.Handler {
	watch := &strays.Watch{Credentials: credentials, Found: w.strays.add}
	return watch.Handler(server, next)
}

// credentials are those of every run, and who may be sent them.
var credentials = sync.OnceValue(func() (all []strays.Credential) {
	for name, secret := range secrets {
		c := strays.Credential{Name: name, Secret: secret}
		for server, may := range mayHave {
			if slices.Contains(may, secret) {
				c.Servers = append(c.Servers, server)
			}
		}
		all = append(all, c)
	}
	return all
})

// TestStraysAreFound sends each credential to each server, in every place of a request.
func TestStraysAreFound(t *testing.T) {
	t.Parallel()
	places := map[string]func(r *http.Request, secret string){
		"a header":   func(r *http.Request, secret string) { r.Header.Set("X-Key", secret) },
		"a password": func(r *http.Request, secret string) { r.SetBasicAuth("any", secret) },
		"a query":    func(r *http.Request, secret string) { r.URL.RawQuery = "key=" + url.QueryEscape(secret) },
		"a path":     func(r *http.Request, secret string) { r.URL.Path = "/" + secret },
		"a body": func(r *http.Request, secret string) {
			first, second, _ := strings.Cut(secret, secretWord)
			r.Body = io.NopCloser(io.MultiReader(strings.NewReader(first), strings.NewReader(secretWord), strings.NewReader(second)))
		},
	}
	for _, server := range []string{"git", "github", "argocd", "argocd of staging", "prometheus", "ingress"} {
		for name, secret := range secrets {
			for place, put := range places {
				w := &world{}
				r := httptest.NewRequest(http.MethodPost, "/", http.NoBody)
				put(r, secret)
				w.recorded(server, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
				})).ServeHTTP(httptest.NewRecorder(), r)
				if found, may := w.strays.found() != nil, slices.Contains(mayHave[server], secret); found == may {
					t.Errorf("%s in %s to %s: found is %t, and it may have it is %t", name, place, server, found, may)
				}
			}
		}
	}
}
