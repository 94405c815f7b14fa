package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
)

// forgeRuns are the promotions that ask the forge of the infra repository, by what
// of it the trouble is with: their further arguments.
var forgeRuns = map[string][]string{
	"statuses":    {"--statuses"},
	"deployments": {"--deployments"},
	"commits":     {"--commit", "api"},
	"pulls":       {"--mode", "pull-request", "--merge-timeout", "20s"},
}

// shows tells whether nothing depends on what the trouble is with.
func shows(host string) bool { return host == "github" || host == "statuses" || host == "deployments" }

// befalls tells whether the trouble is with a request to a host. Requests for the
// infra repository bear its token.
func (x *trouble) befalls(host string, r *http.Request) bool {
	if forgeRuns[x.host] != nil {
		return host == "github" && r.Header.Get("Authorization") == "Bearer "+gitToken
	}
	return host == x.host
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
