package github_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/github"
)

// TestApprovals has who has approved of an environment, and a token that may not
// know.
func TestApprovals(t *testing.T) {
	t.Parallel()
	hub := &githubtest.Server{Repository: "acme/shop", Approvals: []githubtest.Approval{
		{User: "alice", Environment: "Production", State: "approved"}, {User: "bob", Environment: "staging", State: "approved"},
		{User: "carol", Environment: "production", State: "rejected"}, {User: "alice", Environment: "production", State: "approved"},
		{User: "dave", Environment: "production", State: "approved"},
	}}
	server := httptest.NewServer(hub)
	defer server.Close()
	client, err := github.New(github.Config{Token: "secret-token", APIURL: server.URL, Repository: "acme/shop"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Approvals(t.Context(), 1001, "production")
	if diff := cmp.Diff([]string{"alice", "dave"}, got); diff != "" || err != nil {
		t.Errorf("error %v, approvals (-want +got):\n%s", err, diff)
	}
	hub.Fault = func(w http.ResponseWriter, _ *http.Request) bool {
		githubtest.Refuse(w, http.StatusForbidden, "Resource not accessible by integration")
		return true
	}
	_, err = client.Approvals(t.Context(), 1001, "production")
	const want = "reading who has approved of workflow run 1001: GitHub answered 403 Forbidden: Resource not accessible by integration; the token needs the permission actions: read"
	if err == nil || err.Error() != want || strings.Contains(err.Error(), "secret-token") {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
