package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
	"github.com/acme/knative-promote/internal/fake/strays"
)

// sweeps counts the worlds that were searched for secrets.
var sweeps atomic.Int32

// hidesSecrets tells whether a secret is, in any form, in anything that anybody
// can read: what the runs printed, their outputs and summaries, the commits,
// the comments, and the files where they ran.
func (w *world) hidesSecrets() error {
	places := map[string]string{}
	var err error
	if w.bare != "" {
		places["the commits"], err = gittest.Git(w.bare, nil, "log", "--all", "-p", "--format=raw")
	}
	for i, p := range w.runs {
		places[fmt.Sprintf("stdout of run %d", i)] = withoutMasks(p.out.String())
		places[fmt.Sprintf("stderr of run %d", i)] = p.err.String()
	}
	for _, c := range append(w.hub.Comments(7), w.hub.Comments(12)...) {
		places["the comments"] += strings.Join(c.Bodies, "\n")
	}
	places["the forge"] = w.shownOnForge()
	sweeps.Add(1)
	broken := []error{err, w.eachFile(func(name, text string) { places[name] = text })}
	for place, text := range places {
		for _, form := range secretTexts() {
			if strings.Contains(text, form) {
				broken = append(broken, fmt.Errorf("%s hold a secret (%s)", place, form))
			}
		}
	}
	return errors.Join(broken...)
}

// shownOnForge is what the infra repository's forge shows beside the commits.
func (w *world) shownOnForge() string {
	var text strings.Builder
	for _, p := range w.hub.Infra.Pulls() {
		fmt.Fprintln(&text, p.Branch, p.Title, p.Body, strings.Join(p.Comments, "\n"))
	}
	fmt.Fprintf(&text, "%+v\n%+v\n", w.hub.Infra.Statuses(), w.hub.Infra.Deployments())
	return text.String()
}

// eachFile reads the files where the program ran, but not those of the servers
// that it ran against and of the script.
func (w *world) eachFile(visit func(name, text string)) error {
	return filepath.WalkDir(w.dir, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git-server" || entry.Name() == ".seed"):
			return filepath.SkipDir
		case !entry.Type().IsRegular() || filepath.Base(name) == "script.txtar":
			return nil
		}
		text, err := os.ReadFile(name)
		visit(name, string(text))
		return err
	})
}

// secrets are those of every run.
var secrets = map[string]string{
	"token": gitToken, "argocd-token": argoToken, "ARGOCD_AUTH_TOKEN_STAGING": otherToken, "github-token": hubToken, "prometheus-headers": prometheusToken,
}

// secretTexts are the secrets' common word, which is in all forms that leave
// letters and digits as they are, and each secret in base64 at each of the
// three places where it can begin.
func secretTexts() []string {
	texts := []string{secretWord}
	for _, secret := range secrets {
		texts = append(texts, strays.Encoded(secret)...)
	}
	return texts
}

// secretGuises are the guises in which a secret could get out.
var secretGuises = map[string]func(string) string{
	"plain":       func(s string) string { return s },
	"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"basic auth":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x-access-token:" + s)) },
	"user:secret": func(s string) string { return base64.StdEncoding.EncodeToString([]byte("me:" + s)) },
	"URL":         func(s string) string { return "https://x:" + url.QueryEscape(s) + "@host/" },
	"JSON":        func(s string) string { return strconv.Quote(`{"token": ` + strconv.Quote(s) + "}") },
}

// TestSecretsAreFound puts each secret, in every guise, wherever somebody could
// read it, and looks that the check of the promises finds it.
func TestSecretsAreFound(t *testing.T) {
	t.Parallel()
	clean, cells := brokenWorld(t).bare, 0
	for name, secret := range secrets {
		for guise, disguise := range secretGuises {
			text := "before " + disguise(secret) + " after"
			for place, leak := range leaks(t, clean) {
				w := &world{dir: t.TempDir(), hub: &githubtest.Server{}}
				leak(w, text)
				if err := w.hidesSecrets(); err == nil || !strings.Contains(err.Error(), "hold a secret") {
					t.Errorf("%s as %s in %s: got %v", name, guise, place, err)
				}
				cells++
			}
		}
	}
	t.Logf("reliability: the sweep finds %d secrets in %d guises at %d places: %d cells", len(secrets), len(secretGuises), len(leaks(t, clean)), cells)
}

// leaks are the ways out. What the forge shows is about commits of the bare
// repository.
func leaks(t *testing.T, bare string) map[string]func(*world, string) {
	return map[string]func(*world, string){
		"stdout":       func(w *world, text string) { w.printed(text, "") },
		"stderr":       func(w *world, text string) { w.printed("", text) },
		"debug":        func(w *world, text string) { w.printed("::debug::"+text+"\n", "") },
		"outputs":      func(w *world, text string) { w.leave(t, ".output-0", text) },
		"summary":      func(w *world, text string) { w.leave(t, "summary-0.md", text) },
		"a file":       func(w *world, text string) { w.leave(t, "infra.tmp", text) },
		"comments":     func(w *world, text string) { w.hub.AddComment(7, "github-actions[bot]", text) },
		"a status":     func(w *world, text string) { w.hub.Infra.Set(githubtest.CommitStatus{Description: text}) },
		"a deployment": func(w *world, text string) { w.onForge(t, bare, "deployments", "description", text) },
		"a proposal":   func(w *world, text string) { w.onForge(t, bare, "pulls", "body", text) },
		"commits": func(w *world, text string) {
			w.bare = brokenWorld(t).bare
			if err := gittest.Commit(w.bare, "main", text, mapFS(map[string]string{"a": text})); err != nil {
				t.Fatal(err)
			}
		},
	}
}

// onForge makes something of the infra repository's forge say the text.
func (w *world) onForge(t *testing.T, bare, what, field, text string) {
	t.Helper()
	w.hub.Infra.Repository, w.hub.Infra.Folder = "acme/infra", bare
	body, err := json.Marshal(map[string]any{field: text, "head": "main", "base": "main", "ref": "main", "auto_merge": false, "required_contexts": []string{}})
	if err != nil {
		t.Fatal(err)
	}
	request, answer := httptest.NewRequest(http.MethodPost, "/repos/acme/infra/"+what, bytes.NewReader(body)), httptest.NewRecorder()
	request.Header.Set("Authorization", "Bearer ")
	if w.hub.Infra.ServeHTTP(answer, request); answer.Code != http.StatusCreated {
		t.Fatalf("%s: %d %s", what, answer.Code, answer.Body)
	}
}

func (w *world) printed(out, err string) {
	p := &process{}
	_, _ = p.out.Write([]byte(out)) // a buffer
	_, _ = p.err.Write([]byte(err))
	w.runs = append(w.runs, p)
}

func (w *world) leave(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// withoutMasks is a log as the runner keeps it: without the secrets that it is
// told to mask.
func withoutMasks(log string) string {
	var kept strings.Builder
	for line := range strings.Lines(log) {
		if !strings.HasPrefix(line, "::add-mask::") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
