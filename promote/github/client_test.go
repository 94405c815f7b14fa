package github_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/internal/fake/githubtest"
	"github.com/acme/knative-promote/promote/github"
)

const (
	token  = "ghs_SECRETTOKEN"
	marker = "<!-- knative-promote:checkout/staging/apps -->"
	bot    = "github-actions[bot]"
)

func newServer() *githubtest.Server {
	return &githubtest.Server{Repository: "acme/shop", Token: token, Login: bot}
}

// serve starts the server on loopback and returns a client for it.
func serve(t *testing.T, handler http.Handler, path string) *github.Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return newClient(t, github.Config{APIURL: server.URL + path, Transport: server.Client().Transport})
}

func newClient(t *testing.T, config github.Config) *github.Client {
	t.Helper()
	config.Token, config.Repository = token, "acme/shop"
	client, err := github.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func upsert(t *testing.T, client *github.Client, text string) {
	t.Helper()
	if err := client.Upsert(t.Context(), 7, marker, marker+"\n"+text); err != nil {
		t.Fatal(err)
	}
}

func shown(s *githubtest.Server) []string {
	var texts []string
	for _, comment := range s.Comments(7) {
		if !comment.Deleted {
			texts = append(texts, comment.Author+": "+strings.TrimPrefix(comment.Body(), marker+"\n"))
		}
	}
	return texts
}

func TestUpsertCreatesThenEdits(t *testing.T) {
	t.Parallel()
	for _, login := range []string{bot, "octocat", "my-app[bot]"} {
		s := newServer()
		s.Login = login
		client := serve(t, s, "")
		upsert(t, client, "one")
		upsert(t, client, "two")
		upsert(t, client, "two")
		comments := s.Comments(7)
		if len(comments) != 1 {
			t.Fatalf("%s: %d comments, want 1", login, len(comments))
		}
		want := []string{marker + "\none", marker + "\ntwo"}
		if diff := cmp.Diff(want, comments[0].Bodies); diff != "" {
			t.Errorf("%s: what the comment said (-want +got):\n%s", login, diff)
		}
	}
}

func TestUpsertLeavesOthersAlone(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddComment(7, "mallory", marker+"\nmine")
	s.AddComment(7, "github-actions", marker+"\nnearly")
	s.AddComment(7, bot, "quoted: "+marker)
	s.AddComment(8, bot, marker+"\nother pull request")
	upsert(t, serve(t, s, ""), "ours")
	want := []string{"mallory: mine", "github-actions: nearly", bot + ": quoted: " + marker, bot + ": ours"}
	if diff := cmp.Diff(want, shown(s)); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

func TestUpsertFindsItsCommentOnALaterPage(t *testing.T) {
	t.Parallel()
	s := newServer()
	for i := range 250 {
		s.AddComment(7, "octocat", fmt.Sprint("chat ", i))
	}
	s.AddComment(7, bot, marker+"\nold")
	upsert(t, serve(t, s, ""), "new")
	if got := shown(s); len(got) != 251 || got[250] != bot+": new" {
		t.Errorf("%d comments, the last %q", len(got), got[len(got)-1])
	}
}

func TestUpsertKeepsTheOldestOfSeveral(t *testing.T) {
	t.Parallel()
	s := newServer()
	first := s.AddComment(7, bot, marker+"\na")
	s.AddComment(7, bot, marker+"\nb")
	s.AddComment(7, bot, marker+"\nc")
	upsert(t, serve(t, s, ""), "d")
	if diff := cmp.Diff([]string{bot + ": d"}, shown(s)); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	if kept := s.Comments(7)[0]; kept.ID != first || kept.Deleted {
		t.Errorf("kept %+v, want the oldest", kept)
	}
}

func TestUpsertCreatesAgainWhatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddComment(7, bot, marker+"\na")
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch {
			return false
		}
		githubtest.Refuse(w, http.StatusNotFound, "Not Found")
		return true
	}
	upsert(t, serve(t, s, ""), "b")
	if diff := cmp.Diff([]string{bot + ": a", bot + ": b"}, shown(s)); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

func TestUpsertWithoutKnowingItself(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddComment(7, bot, marker+"\nof an earlier run")
	s.AddComment(7, "mallory", marker+"\nmine")
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/user" && r.URL.Path != "/graphql" {
			return false
		}
		githubtest.Refuse(w, http.StatusNotFound, "Not Found")
		return true
	}
	client := serve(t, s, "")
	upsert(t, client, "one")
	upsert(t, client, "two")
	if diff := cmp.Diff([]string{bot + ": two", "mallory: mine"}, shown(s)); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
	created := slices.DeleteFunc(s.Requests(), func(r string) bool { return !strings.HasPrefix(r, "POST /repos") })
	if len(created) != 1 {
		t.Errorf("%d comments made, want 1 to learn who we are", len(created))
	}
}

func TestEnterpriseServerWithAPath(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"/api/v3", "/api/v3/"} {
		s := newServer()
		mux := http.NewServeMux()
		mux.Handle("/api/v3/", http.StripPrefix("/api/v3", s))
		mux.Handle("/api/graphql", http.StripPrefix("/api", s))
		upsert(t, serve(t, mux, base), "one")
		if diff := cmp.Diff([]string{bot + ": one"}, shown(s)); diff != "" {
			t.Errorf("%s: comments (-want +got):\n%s", base, diff)
		}
	}
}

func TestPullRequestOf(t *testing.T) {
	t.Parallel()
	s := newServer()
	for _, pull := range []githubtest.Pull{
		{Number: 1, State: "closed", Head: "abandoned"},
		{Number: 2, State: "closed", Head: "h2", Merge: "m2"},
		{Number: 3, State: "open", Head: "h3", Commits: []string{"m2", "shared"}},
		{Number: 4, State: "open", Head: "h4", Commits: []string{"h3", "shared"}},
	} {
		s.AddPull(pull)
	}
	client := serve(t, s, "")
	for commit, want := range map[string]int{"abandoned": 0, "m2": 2, "h2": 2, "h3": 3, "shared": 4, "unknown": 0} {
		got, err := client.PullRequestOf(t.Context(), commit)
		if got != want || err != nil {
			t.Errorf("PullRequestOf(%s) = %d, %v, want %d", commit, got, err, want)
		}
	}
}

// TestUnmergedOfFork knows no repository of the head where the fork is gone.
func TestUnmergedOfFork(t *testing.T) {
	t.Parallel()
	s := newServer()
	s.AddPull(githubtest.Pull{Number: 1, State: "open"})
	s.AddPull(githubtest.Pull{Number: 2, State: "open", Fork: true})
	s.AddPull(githubtest.Pull{Number: 3, State: "closed", Fork: true, Merge: "m3"})
	s.Fault = func(w http.ResponseWriter, r *http.Request) bool {
		answer := map[string]string{
			"4": `{"number": 4, "base": {"repo": {"id": 1}}, "head": {"repo": null}}`,
			"6": `{"number": 6, "base": {"repo": {"id": 1}}, "head": {"ref": "refs/pull/6/head", "repo": {"id": 1}}}`, // pushed by who may only read
			"7": `{"number": 7, "merged": true, "base": {"repo": {"id": 1}}, "head": {"ref": "refs/pull/7/head", "repo": {"id": 1}}}`,
		}[path.Base(r.URL.Path)]
		if answer != "" {
			fmt.Fprint(w, answer)
		}
		return answer != ""
	}
	client := serve(t, s, "")
	for number, want := range map[int]bool{1: false, 2: true, 3: false, 4: true, 6: true, 7: false} {
		got, err := client.UnmergedOfFork(t.Context(), number)
		if got != want || err != nil {
			t.Errorf("UnmergedOfFork(%d) = %t, %v, want %t", number, got, err, want)
		}
	}
	const want = "looking up pull request 5: GitHub answered 404 Not Found: Not Found; it does not exist, or the token cannot see it"
	if _, err := client.UnmergedOfFork(t.Context(), 5); err == nil || err.Error() != want {
		t.Errorf("UnmergedOfFork(5) = %v, want %s", err, want)
	}
}

// TestPullRequestOfOnGitea has the answers of a Gitea 1.26, which knows the
// pull request that was merged as a commit and lists the open ones.
func TestPullRequestOfOnGitea(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/repos/acme/shop/pulls", func(w http.ResponseWriter, r *http.Request) {
		if state := r.URL.Query().Get("state"); state != "open" {
			t.Errorf("asked for pull requests in state %q", state)
		}
		fmt.Fprint(w, `[{"number": 4, "state": "open", "head": {"sha": "h4"}}, {"number": 3, "state": "open", "head": {"sha": "h3"}}]`)
	})
	mux.HandleFunc("GET /api/v1/repos/acme/shop/commits/m2/pull", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"number": 2, "state": "closed", "merged_at": "2026-01-01T00:00:00Z", "merge_commit_sha": "m2"}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { githubtest.Refuse(w, http.StatusNotFound, "not found") })
	client := serve(t, mux, "/api/v1")
	for commit, want := range map[string]int{"h3": 3, "h4": 4, "m2": 2, "unknown": 0} {
		got, err := client.PullRequestOf(t.Context(), commit)
		if got != want || err != nil {
			t.Errorf("PullRequestOf(%s) = %d, %v, want %d", commit, got, err, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config github.Config
		want   string
	}{
		{github.Config{Token: token}, `repository "": expected owner/name`},
		{github.Config{Token: token, Repository: "acme/../x"}, `repository "acme/../x": expected owner/name`},
		{github.Config{Token: token, Repository: "acme/.."}, `repository "acme/..": expected owner/name`},
		{github.Config{Repository: "acme/shop"}, "no GitHub token: set github-token, for example to ${{ github.token }}"},
		{
			github.Config{Token: token, Repository: "acme/shop", APIURL: "https://x:" + token + "@h"},
			"GitHub API address: expected http(s)://host/path without a user, such as https://github.example.com/api/v3",
		},
	} {
		if _, err := github.New(c.config); err == nil || err.Error() != c.want {
			t.Errorf("New(%+v) = %v, want %s", c.config, err, c.want)
		}
	}
}

func TestUpsertNeedsTheMarkerFirst(t *testing.T) {
	t.Parallel()
	err := serve(t, newServer(), "").Upsert(t.Context(), 7, marker, "text "+marker)
	if err == nil || err.Error() != "commenting: the text does not start with its marker" {
		t.Errorf("got %v", err)
	}
}

func TestCancelledContextIsRecognised(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := serve(t, newServer(), "").Upsert(ctx, 7, marker, marker)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}
