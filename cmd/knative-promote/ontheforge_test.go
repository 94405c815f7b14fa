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

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/internal/fake/gittest"
)

// onForge has the program take the git server for a GitHub.
var onForge = []string{"GITHUB_SERVER_URL=http://127.0.0.1"}

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
		env: []string{"INPUT_TOKEN=", "INPUT_APP-ID=4711", "INPUT_APP-PRIVATE-KEY=$APP_KEY"},
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

// world is one where the trouble waits for its moment.
func (x *trouble) world(t *testing.T) *world {
	t.Helper()
	w := forgeRuns[x.host].world(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trouble = x
	return w
}

// world is one after the run that comes first. What that has committed has the
// status e2e.
func (r forgeRun) world(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	for name, text := range r.files {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(name)), text)
	}
	w := worldIn(t, dir)
	if r.before == nil {
		return w
	}
	if code, out := w.program(t, r.env, r.before); code != "0" {
		t.Fatalf("the run before ended with %s:\n%s", code, out)
	}
	commits, err := gittest.Git(w.bare, nil, "rev-list", w.seed+"..main")
	if err != nil {
		t.Fatal(err)
	}
	for _, commit := range strings.Fields(commits) {
		w.hub.Infra.Set(githubtest.CommitStatus{Commit: commit, Context: "e2e", State: "success"})
	}
	return w
}

// writeFile writes a file and the folders that it is in.
func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// askedPipeline wants an approval, so that the forge is asked for it.
const askedPipeline = `version: 1
path: apps/{service}/overlays/{environment}
environments:
  staging: {}
  production: {approval: if-known, application: the-app}
`

var mutation = regexp.MustCompile(`\{ (\w+)\(input`)

// changeOnForge is what a request changes on the infra repository's forge, with a
// number where it is not the first of its kind; empty: nothing. Of what shows how
// far the run is, it is the first alone: how many follow depends on time.
func (w *world) changeOnForge(r *http.Request) string {
	if r.Header.Get("Authorization") != "Bearer "+gitToken || r.Method == http.MethodGet {
		return ""
	}
	kind, shows := r.Method+" "+path.Base(path.Dir(r.URL.Path)), false // of one of a list
	switch base := path.Base(r.URL.Path); {
	case r.Method == http.MethodDelete:
		kind = "DELETE branch"
	case base == "pulls":
		kind = "POST pulls"
	case base == "deployments":
		kind, shows = "POST deployments", true
	case base == "statuses":
		kind, shows = "POST status of a deployment", true
	case strings.HasSuffix(kind, " statuses"):
		shows = true
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
	w.asked[kind]++
	switch {
	case w.asked[kind] > 1 && shows:
		return ""
	case w.asked[kind] > 1:
		kind += fmt.Sprintf(" (%d)", w.asked[kind])
	}
	return kind
}

// instead is a command with flags that each have a value, and with further ones;
// where both give a flag, the further one stands.
func instead(args []string, more ...string) []string {
	kept := slices.Clone(args[:1])
	for pair := range slices.Chunk(args[1:], 2) {
		if !slices.Contains(more, pair[0]) {
			kept = append(kept, pair...)
		}
	}
	return append(kept, more...)
}
