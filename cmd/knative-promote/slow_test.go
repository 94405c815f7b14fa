package main

import (
	"net/http"
	"testing"
	"time"
)

// TestSlowServers promotes while each answer of a server comes a second late:
// that takes longer, and that is all.
func TestSlowServers(t *testing.T) {
	for _, host := range []string{"git", "argocd", "github"} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			w := (&trouble{host: host, do: slow, at: "first", lasting: true}).world(t)
			code, out := w.program(t, nil, []string{"promote", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "50,100"})
			if code != "0" {
				t.Errorf("it ended with %s:\n%s", code, out)
			}
			if _, err := w.checkPromises(); err != nil {
				t.Error(err)
			}
		})
	}
}

// slow answers as it should, but late.
func slow(w http.ResponseWriter, r *http.Request, next http.Handler) {
	select {
	case <-r.Context().Done():
	case <-time.After(time.Second):
	}
	next.ServeHTTP(w, r)
}
