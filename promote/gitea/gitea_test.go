package gitea_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/gitea"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

const token = "s3cr3t-token"

// clientOf asks a handler.
func clientOf(t *testing.T, handler http.Handler) gitea.Client {
	t.Helper()
	client, err := github.New(github.Config{Token: token, Repository: "acme/shop", APIURL: "http://gitea.example/api/v1", Transport: direct{handler}})
	if err != nil {
		t.Fatal(err)
	}
	return gitea.Client{Client: client}
}

// direct asks a handler without a network.
type direct struct{ handler http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	recorder := httptest.NewRecorder()
	if r.Body == nil { // a server's requests have one
		r.Body = http.NoBody
	}
	d.handler.ServeHTTP(recorder, r)
	return recorder.Result(), r.Context().Err()
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

var four = review.PullRequest{Number: 4, URL: "https://forge/4", State: review.Open, Node: "PR_4", Branch: "promote-web-prod.1-10", Base: "main", Head: "c0ffee"}

// aPull is a pull request's answer but for its end.
const aPull = `{"number": 4, "html_url": "https://forge/4", "state": "open", "node_id": "PR_4",
	"head": {"ref": "promote-web-prod.1-10", "sha": "c0ffee", "repo": {"full_name": "Acme/shop"}}, "base": {"ref": "main"}`

// TestPull has what is told of a pull request in mergeable, which is false also while
// conflicts are looked for.
func TestPull(t *testing.T) {
	t.Parallel()
	conflict := four
	conflict.Block = review.Conflict
	for finds, want := range map[int]review.PullRequest{1: four, 3: four, 99: conflict} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			s := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				looks++
				fmt.Fprintf(w, `%s, "mergeable": %t}`, aPull, looks >= finds)
			})
			got, err := clientOf(t, s).Pull(t.Context(), 4)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("mergeable at look %d: %v (-want +got):\n%s", finds, err, diff)
			}
		})
	}
}

func TestBranchRules(t *testing.T) {
	t.Parallel()
	const branch = "/api/v1/repos/acme/shop/branches/release%2F1"
	for answer, want := range map[string]review.Rules{
		`{"protected": false, "user_can_push": true}`:                                                  {May: review.Yes},
		`{"protected": true, "user_can_push": true, "user_can_merge": true, "required_approvals": 2}`:  {May: review.Yes, Wants: []string{"2 approvals"}},
		`{"protected": true, "user_can_push": false, "user_can_merge": true, "required_approvals": 1}`: {May: review.No, Wants: []string{"1 approval"}, NoPush: []string{"the branch is protected"}},
		`{"protected": true, "user_can_push": true, "user_can_merge": false}`:                          {May: review.Yes, Wants: []string{"somebody who may merge it, which the token's owner may not"}},
	} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.EscapedPath() != branch {
				t.Errorf("asked for %s, want %s", r.URL.EscapedPath(), branch)
			}
			fmt.Fprint(w, answer)
		})
		got, err := clientOf(t, handler).BranchRules(t.Context(), "release/1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules of %s (-want +got):\n%s", answer, diff)
		}
	}
}

// merging answers the requests to merge on Gitea.
type merging struct {
	status int
	answer string
	allows string // how the repository may be merged
	body   string // of the request to merge
}

func (g *merging) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/repos/acme/shop" {
		fmt.Fprintf(w, `{%q: true}`, g.allows)
		return
	}
	if r.Method == http.MethodGet {
		fmt.Fprint(w, aPull+"}")
		return
	}
	body, _ := io.ReadAll(r.Body)
	g.body = string(body)
	w.WriteHeader(g.status)
	fmt.Fprint(w, g.answer)
}

// TestMerge has each answer (routers/api/v1/repo/pull.go).
func TestMerge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		answer string
		want   review.Merging
		err    string
	}{
		{"merged", 200, "", review.Done, ""},
		{"head moved", 409, `{"message": "head out of date"}`, review.Asked, ""},
		{"a hook says no", 409, `{"message": "PushRejected with remote message: frozen"}`, review.Asked, ""},
		{"looks for conflicts", 405, `{"message": "Please try again later"}`, review.Asked, ""},
		{"signs for nobody", 405, `{"message": "wont sign: pubkey"}`, "", "not merged by the forge: wont sign: pubkey"},
		{"waits for a review", 405, `{"message": "Does not have enough approvals"}`, "", "not merged by the forge: Does not have enough approvals"},
		{"is behind", 405, `{"message": "The head branch is behind the base branch"}`, "", "the branch has moved: The head branch is behind the base branch"},
		{"may not", 405, `{"message": "User not allowed to merge PR"}`, "", "not merged by the forge: User not allowed to merge PR"},
		{"a token in the words", 405, `{"message": "not with ` + token + `"}`, "", "not merged by the forge: not with ***"},
		{"gone", 404, `{"message": "Not Found"}`, "", "merging pull request 4 of acme/shop: GitHub answered 404 Not Found: Not Found; it does not exist, or the token cannot see it"},
		{"trouble", 500, `{"message": ""}`, "", "merging pull request 4 of acme/shop: GitHub answered 500 Internal Server Error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := &merging{status: c.status, answer: c.answer, allows: "allow_merge_commits"}
			got, err := clientOf(t, g).MergePull(t.Context(), four, "Title", "Body")
			if textOf(err) != c.err || got != c.want || errors.Is(err, review.ErrNotMergeable) != strings.HasPrefix(c.err, "not merged") || errors.Is(err, review.ErrOutdated) != strings.HasPrefix(c.err, "the branch has moved") {
				t.Errorf("%q, %v\nwant %q, %s", got, err, c.want, c.err)
			}
			const body = `{"Do":"merge","MergeMessageField":"Body","MergeTitleField":"Title","head_commit_id":"c0ffee"}` + "\n"
			if g.body != body {
				t.Errorf("it was asked %s, want %s", g.body, body)
			}
		})
	}
}

// TestMergeIntoAnotherBase asks for nothing where somebody has changed the base after the look.
func TestMergeIntoAnotherBase(t *testing.T) {
	t.Parallel()
	g, looked := &merging{status: 200, allows: "allow_squash_merge"}, four
	looked.Base = "staging"
	_, err := clientOf(t, g).MergePull(t.Context(), looked, "Title", "Body")
	if got, want := textOf(err), "not merged by the forge: somebody has changed its base to main"; got != want || g.body != "" {
		t.Errorf("%s, and asked %s; want %s", got, g.body, want)
	}
}

// TestStyle: the repository is asked to merge as it may be.
func TestStyle(t *testing.T) {
	t.Parallel()
	for allows, want := range map[string]string{
		"allow_squash_merge": "squash", "allow_merge_commits": "merge", "allow_rebase": "rebase",
		"allow_rebase_explicit": "rebase-merge", "allow_fast_forward_only_merge": "fast-forward-only",
	} {
		g := &merging{status: 200, allows: allows}
		if _, err := clientOf(t, g).MergePull(t.Context(), four, "Title", "Body"); err != nil || !strings.Contains(g.body, `"Do":"`+want+`"`) {
			t.Errorf("%s: asked %s, %v; want %s", allows, g.body, err, want)
		}
	}
}

// TestClosePull closes one and deletes its branch, by the paths that the forge has.
func TestClosePull(t *testing.T) {
	t.Parallel()
	var asked []string
	client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.URL.Path)
		switch r.Method {
		case http.MethodPatch:
			fmt.Fprint(w, aPull+"}")
		case http.MethodPost:
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"id": 1}`)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	if err := client.ClosePull(t.Context(), 4, "Superseded by #5."); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"PATCH /api/v1/repos/acme/shop/pulls/4", "POST /api/v1/repos/acme/shop/issues/4/comments",
		"DELETE /api/v1/repos/acme/shop/branches/promote-web-prod.1-10",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
}

func TestDeleteBranch(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{
		204: "", 404: "", 422: "", // it is gone
		403: "deleting branch promote-x of acme/shop: GitHub answered 403 Forbidden: protected, says ***; the token needs the permission contents: write",
	} {
		client := clientOf(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			if status != http.StatusNoContent {
				fmt.Fprint(w, `{"message": "protected, says `+token+`"}`)
			}
		}))
		if err := client.DeleteBranch(t.Context(), "promote-x"); textOf(err) != want {
			t.Errorf("%d: %v, want %s", status, err, want)
		}
	}
}
