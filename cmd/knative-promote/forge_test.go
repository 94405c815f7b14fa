package main

import (
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/forges"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
)

// TestGitHubTokenStays has a token that no request may take along.
func TestGitHubTokenStays(t *testing.T) {
	t.Parallel()
	w := console.Workflow{Repository: "acme/shop", APIURL: "HTTP://git.example.com/api/v3"}
	_, err := forges.Open(inputs.Settings{GitHubToken: "x"}, w, quietConsole())
	if want := `github-token must not travel without TLS, and GITHUB_API_URL is "HTTP://git.example.com/api/v3": expected an https URL there`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	w.APIURL = "http://127.0.0.1:8080/api/v3"
	if _, err := forges.Open(inputs.Settings{GitHubToken: "x"}, w, quietConsole()); err != nil {
		t.Error(err)
	}
	if hub, err := forges.Open(inputs.Settings{}, w, quietConsole()); hub != nil || err == nil {
		t.Errorf("without a token: forge %v, error %v", hub, err)
	}
}
