package main

import (
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSlowServers promotes while each answer of a server comes a second late:
// that takes longer, and that is all.
func TestSlowServers(t *testing.T) {
	t.Parallel()
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

// TestSilentApprovals promotes while GitHub does not say who has approved: the run
// waits for that for a while, and has time left for the promotion.
func TestSilentApprovals(t *testing.T) {
	t.Parallel()
	const why = "reading who has approved of this workflow run: the GitHub API took too long"
	for approval, want := range map[string]struct{ code, text string }{
		"if-known": {"0", "::warning title=Approval not recorded::" + why},
		"true":     {"15", "line 5 wants an approval, and whether somebody has approved of production is not known: " + why},
	} {
		t.Run(approval, func(t *testing.T) {
			t.Parallel()
			code, out := promotedInSilence(t, strings.Replace(askedPipeline, "if-known", approval, 1))
			if code != want.code || !strings.Contains(out, want.text) {
				t.Errorf("it ended with %s, want %s and %s:\n%s", code, want.code, want.text, out)
			}
		})
	}
}

// promotedInSilence promotes by a pipeline file while GitHub does not say who has approved.
func promotedInSilence(t *testing.T, pipeline string) (code, out string) {
	t.Helper()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "infra", "knative-promote.yaml"), pipeline)
	w := worldIn(t, dir)
	w.mu.Lock()
	w.trouble = &trouble{host: "github", at: "first", lasting: true, do: func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		if path.Base(r.URL.Path) == "approvals" {
			silent(out, r, nil)
		}
		next.ServeHTTP(out, r)
	}}
	w.mu.Unlock()
	return w.program(t, []string{"INPUT_PATH=", "INPUT_APPLICATION="}, []string{
		"promote", "--environment", "production", "--image", "ghcr.io/acme/product-import:v2.0.0", "--steps", "100", "--wait-timeout", "25s", "--timeout", "55s",
	})
}
