package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
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

// strays are the credentials that servers were sent which are for others.
type strays struct {
	mu  sync.Mutex
	all []string
}

func (s *strays) found() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.all) == 0 {
		return nil
	}
	return errors.New(strings.Join(s.all, "\n"))
}

// look looks for what the server may not have in a part of a request.
func (s *strays) look(server string, r *http.Request, part string) {
	for name, secret := range secrets {
		if slices.Contains(mayHave[server], secret) {
			continue
		}
		if slices.ContainsFunc(append(encoded(secret), secret), func(form string) bool { return strings.Contains(part, form) }) {
			s.mu.Lock()
			s.all = append(s.all, fmt.Sprintf("%s was sent to %s: %s %s", name, server, r.Method, r.URL.Path))
			s.mu.Unlock()
		}
	}
}

// recorded is a server whose requests are looked at for credentials that are for others.
func (w *world) recorded(server string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		var head strings.Builder
		_ = r.Header.Write(&head) // to a string, which takes all
		query, err := url.QueryUnescape(r.URL.RawQuery)
		fmt.Fprintln(&head, r.Host, r.URL.Path, r.URL.RawQuery, query, err)
		w.strays.look(server, r, head.String())
		r.Body = &recordedBody{ReadCloser: r.Body, look: func(part string) { w.strays.look(server, r, part) }}
		next.ServeHTTP(out, r)
	})
}

// A recordedBody shows what is read of it, with the end of what was read before.
type recordedBody struct {
	io.ReadCloser
	look func(string)
	last string
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		part := b.last + string(p[:n])
		b.look(part)
		b.last = part[max(0, len(part)-128):] // longer than a secret
	}
	return n, err
}

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
