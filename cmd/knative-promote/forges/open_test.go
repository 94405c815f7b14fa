package forges

import (
	"io"
	"testing"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/internal/fake/consoletest"
)

// TestGitHubTokenStays has a token that no request may take along.
func TestGitHubTokenStays(t *testing.T) {
	t.Parallel()
	w := console.Workflow{Repository: "acme/shop", APIURL: "HTTP://git.example.com/api/v3"}
	_, err := Open(inputs.Settings{GitHubToken: "x"}, w, console.New(consoletest.Environment(), io.Discard, io.Discard))
	if want := `github-token must not travel without TLS, and GITHUB_API_URL is "HTTP://git.example.com/api/v3": expected an https URL there`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	w.APIURL = "http://127.0.0.1:8080/api/v3"
	if _, err := Open(inputs.Settings{GitHubToken: "x"}, w, console.New(consoletest.Environment(), io.Discard, io.Discard)); err != nil {
		t.Error(err)
	}
	if hub, err := Open(inputs.Settings{}, w, console.New(consoletest.Environment(), io.Discard, io.Discard)); hub != nil || err == nil {
		t.Errorf("without a token: forge %v, error %v", hub, err)
	}
}
