package github_test

import (
	"net/http"
	"testing"

	"github.com/acme/knative-promote/promote/github"
)

// TestHasCommit takes no commit of a fork's for the repository's own, which GitHub compares too.
func TestHasCommit(t *testing.T) {
	t.Parallel()
	const repository, compare, heads = "GET /repos/acme/shop", "GET /repos/acme/shop/compare/trunk...c0ffee", "GET /repos/acme/shop/commits/c0ffee/branches-where-head"
	for _, test := range []struct {
		name, compared, heads string
		want                  bool
	}{
		{"older than the branch", `{"status": "behind"}`, `[]`, true},
		{"the branch's newest", `{"status": "identical"}`, `[]`, true},
		{"another branch's newest", `{"status": "ahead"}`, `[{"name": "more"}]`, true},
		{"a fork's", `{"status": "diverged"}`, `[]`, false},
		{"not known", ``, `[{"name": "more"}]`, false},
	} {
		server := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){
			repository: saying(http.StatusOK, `{"default_branch": "trunk"}`), heads: saying(http.StatusOK, test.heads),
		}}
		if test.compared != "" {
			server.answers[compare] = saying(http.StatusOK, test.compared)
		}
		if has, err := github.HasCommit(t.Context(), newClient(t, github.Config{Transport: direct{server}}), "c0ffee"); has != test.want || err != nil {
			t.Errorf("%s: %t, %v; want %t", test.name, has, err, test.want)
		}
	}
	const want = "looking for commit \"c0ffee\" in the branches of acme/shop: "
	if _, err := github.HasCommit(t.Context(), newClient(t, github.Config{Transport: direct{&routed{}}}), "c0ffee"); err == nil || err.Error()[:len(want)] != want {
		t.Errorf("of a repository that is not there: %v, want %s…", err, want)
	}
}
