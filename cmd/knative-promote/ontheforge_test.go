package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/acme/knative-promote/gitops/gittest"
	"github.com/acme/knative-promote/promote/github/githubtest"
)

// A forgeRun is a promotion that asks a forge for something.
type forgeRun struct {
	args, env []string
	files     map[string]string        // in the world's folder
	before    []string                 // arguments of a run that comes first
	asked     func(*http.Request) bool // the requests that are meant; nil: those with the token for the infra repository
}

// forgeRuns are those promotions, by what of the forge the trouble is with.
var forgeRuns = map[string]forgeRun{
	"statuses":    {args: []string{"--statuses"}},
	"deployments": {args: []string{"--deployments"}},
	"commits":     {args: []string{"--commit", "api"}},
	"pulls":       {args: []string{"--mode", "pull-request", "--merge-timeout", "20s"}},
	"checks": {
		args:   []string{"--image", "", "--from", stagingPath, "--checks", "e2e"},
		files:  map[string]string{"world": "staging on\n"},
		before: []string{"promote", "--path", stagingPath, "--application", "staging-app", "--image", "ghcr.io/acme/product-import:v2.0.0"},
	},
	"approvals": {
		args:  []string{"--environment", "production"},
		env:   []string{"INPUT_PATH=", "INPUT_APPLICATION="},
		files: map[string]string{"infra/knative-promote.yaml": askedPipeline},
		asked: func(r *http.Request) bool { return path.Base(r.URL.Path) == "approvals" },
	},
	"app": {
		env: []string{"INPUT_TOKEN=", "INPUT_APP-ID=4711", "INPUT_APP-PRIVATE-KEY=" + string(githubtest.AppPEM())},
		asked: func(r *http.Request) bool {
			return slices.Contains([]string{"installation", "access_tokens"}, path.Base(r.URL.Path))
		},
	},
}

// shows tells whether nothing depends on what the trouble is with.
func shows(host string) bool {
	return slices.Contains([]string{"github", "statuses", "deployments", "approvals"}, host)
}

// befalls tells whether the trouble is with a request to a host. Requests for the
// infra repository bear its token.
func (x *trouble) befalls(host string, r *http.Request) bool {
	run, onForge := forgeRuns[x.host]
	switch {
	case !onForge:
		return host == x.host
	case run.asked != nil:
		return host == "github" && run.asked(r)
	}
	return host == "github" && r.Header.Get("Authorization") == "Bearer "+gitToken
}

// world is one where the trouble waits for its moment. What a run before has
// committed has the status e2e.
func (x *trouble) world(t *testing.T) *world {
	t.Helper()
	run, dir := forgeRuns[x.host], t.TempDir()
	for name, text := range run.files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	w := worldIn(t, dir)
	if run.before != nil {
		if code, out := w.program(t, nil, run.before); code != "0" {
			t.Fatalf("the run before ended with %s:\n%s", code, out)
		}
		commits, err := gittest.Git(w.bare, nil, "rev-list", w.seed+"..main")
		if err != nil {
			t.Fatal(err)
		}
		for _, commit := range strings.Fields(commits) {
			w.hub.Infra.Set(githubtest.CommitStatus{Commit: commit, Context: "e2e", State: "success"})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = x
	return w
}

// writeFile writes a file and the folders that it is in.
func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

var mutation = regexp.MustCompile(`\{ (\w+)\(input`)

// changeOnForge is what a request changes on the infra repository's forge, with a
// number where it is not the first of its kind; empty: nothing.
func (w *world) changeOnForge(r *http.Request) string {
	if r.Header.Get("Authorization") != "Bearer "+gitToken || r.Method == http.MethodGet {
		return ""
	}
	kind := r.Method + " " + path.Base(path.Dir(r.URL.Path)) // of one of a list
	switch base := path.Base(r.URL.Path); {
	case r.Method == http.MethodDelete:
		kind = "DELETE branch"
	case base == "pulls":
		kind = "POST pulls"
	case base == "graphql":
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		found := mutation.FindSubmatch(body)
		if err != nil || found == nil {
			return ""
		}
		kind = string(found[1])
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked == nil {
		return ""
	}
	if w.asked[kind]++; w.asked[kind] > 1 {
		kind += fmt.Sprintf(" (%d)", w.asked[kind])
	}
	return kind
}
