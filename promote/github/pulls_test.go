package github_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

// A routed answers requests by method and path, and keeps what was asked.
type routed struct {
	answers map[string]func(w http.ResponseWriter, r *http.Request)
	asked   []string
}

func (s *routed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	asked := r.Method + " " + r.URL.Path
	s.asked = append(s.asked, asked)
	if answer := s.answers[asked]; answer != nil {
		answer(w, r)
		return
	}
	saying(http.StatusNotFound, `{"message": "Not Found"}`)(w, r)
}

// saying answers with a status and a body.
func saying(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

const (
	pullsPath = "/repos/acme/shop/pulls"
	aPull     = `{"number": 4, "html_url": "https://forge/4", "state": "open", "node_id": "PR_4",
		"head": {"ref": "promote-web-prod.1-10", "sha": "c0ffee", "repo": {"full_name": "Acme/shop"}}, "base": {"ref": "main"}}`
)

var four = review.PullRequest{Number: 4, URL: "https://forge/4", State: review.Open, Node: "PR_4", Branch: "promote-web-prod.1-10", Base: "main", Head: "c0ffee"}

// TestPull has what GitHub tells of a pull request in mergeable_state.
func TestPull(t *testing.T) {
	t.Parallel()
	with := func(change func(p *review.PullRequest)) review.PullRequest {
		p := four
		change(&p)
		return p
	}
	clean := with(func(p *review.PullRequest) { p.Clean = true })
	blocked := func(b review.Block) review.PullRequest { return with(func(p *review.PullRequest) { p.Block = b }) }
	done := with(func(p *review.PullRequest) { p.State, p.Merge = review.Merged, "beef" })
	for more, want := range map[string]review.PullRequest{
		``:                                 four,
		`, "mergeable_state": "clean"`:     clean,
		`, "mergeable_state": "unstable"`:  clean,
		`, "mergeable_state": "has_hooks"`: clean,
		`, "mergeable_state": "unknown"`:   four,
		`, "draft": true`:                  blocked(review.Draft),
		`, "mergeable_state": "blocked"`:   blocked(review.Blocked),
		`, "mergeable_state": "behind"`:    blocked(review.Behind),
		`, "mergeable_state": "dirty"`:     blocked(review.Conflict),
		`, "state": "closed"`:              with(func(p *review.PullRequest) { p.State = review.Closed }),
		`, "state": "closed", "merged": true, "mergeable_state": "unknown", "merge_commit_sha": "beef"`: done,
		`, "state": "closed", "merged_at": "2026-01-02T03:04:05Z", "merge_commit_sha": "beef"`:          done,
		`, "merge_commit_sha": "7e57", "merged": false`:                                                 four, // GitHub's trial merge
	} {
		s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"GET " + pullsPath + "/4": saying(200, strings.TrimSuffix(aPull, "}")+more+"}")}}
		got, err := newClient(t, github.Config{Transport: direct{s}}).Pull(t.Context(), 4)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", more, err, diff)
		}
	}
}

// TestOpenPulls: nobody's pull request from a fork, into another branch or of
// another name is taken for ours, on whatever page it stands.
func TestOpenPulls(t *testing.T) {
	t.Parallel()
	others := strings.Join([]string{
		strings.Replace(aPull, "Acme/shop", "mallory/shop", 1), strings.Replace(aPull, `{"full_name": "Acme/shop"}`, "null", 1),
		strings.Replace(aPull, `"ref": "main"`, `"ref": "next"`, 1), strings.Replace(aPull, "promote-web-prod.", "promote-web-production.", 1),
	}, ",")
	s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"GET " + pullsPath: func(w http.ResponseWriter, r *http.Request) {
		if q := r.URL.Query(); q.Get("per_page") != "100" || q.Get("limit") != "100" || q.Get("head") != "" {
			t.Errorf("asked for %s; want 100 a page by the names of GitHub and of Gitea, from all branches", r.URL.RawQuery)
		}
		if r.URL.Query().Get("page") == "" {
			w.Header().Set("Link", `<https://api.github.com`+pullsPath+`?page=2>; rel="next"`)
			fmt.Fprint(w, "["+others+"]")
			return
		}
		fmt.Fprint(w, "["+aPull+"]")
	}}}
	got, err := newClient(t, github.Config{Transport: direct{s}}).OpenPulls(t.Context(), "main", "promote-web-prod.")
	if diff := cmp.Diff([]review.PullRequest{four}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestOpenPullsEnds: of a list without an end what is not read may be of a run.
func TestOpenPullsEnds(t *testing.T) {
	t.Parallel()
	s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"GET " + pullsPath: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `<https://api.github.com`+pullsPath+`?page=2>; rel="next"`)
		fmt.Fprint(w, "["+aPull+"]")
	}}}
	found, err := newClient(t, github.Config{Transport: direct{s}}).OpenPulls(t.Context(), "main", "promote-")
	const want = "listing the pull requests of acme/shop: not all open pull requests were read: 50 pages of them, and others are open: close some"
	if !errors.Is(err, review.ErrMany) || err.Error() != want || len(found) != 50 || len(s.asked) != 50 {
		t.Errorf("%d pages were read: %v, %v", len(s.asked), found, err)
	}
}

// TestOpen: one that is open already, and one whose opening got no answer, are
// found, and get the title and body that were asked for; what was sent is that too.
func TestOpen(t *testing.T) {
	t.Parallel()
	const opening = "opening a pull request of branch promote-web-prod.1-10 in acme/shop: "
	for _, c := range []struct {
		name            string
		created, listed func(http.ResponseWriter, *http.Request)
		edited          func(http.ResponseWriter, *http.Request) // nil: there is nothing to describe
		want            string
	}{
		{"a new one", saying(201, aPull), nil, nil, ""},
		{"there is one", saying(422, `{"message": "Validation Failed", "errors": [{"message": "A pull request already exists for acme:promote-web-prod.1-10."}]}`), saying(200, "["+aPull+"]"), saying(200, aPull), ""},
		{"there is one on Gitea", saying(409, `{"message": "pull request already exists for these targets"}`), saying(200, "["+aPull+"]"), saying(200, aPull), ""},
		{"the answer was lost", saying(502, ""), saying(200, "["+aPull+"]"), saying(200, aPull), ""},
		{"one of a longer name", saying(422, `{"message": "Validation Failed"}`), saying(200, "["+strings.Replace(aPull, "1-10", "1-100", 1)+"]"), nil, opening + "GitHub answered 422 Unprocessable Entity: Validation Failed"},
		{"nothing between", saying(422, `{"message": "Validation Failed", "errors": [{"message": "No commits between main and promote-web-prod.1-10"}]}`), saying(200, "[]"), nil,
			opening + "GitHub answered 422 Unprocessable Entity: Validation Failed: No commits between main and promote-web-prod.1-10"},
		{"may not", saying(403, `{"message": "Resource not accessible by `+token+`"}`), saying(200, "[]"), nil,
			opening + "GitHub answered 403 Forbidden: Resource not accessible by ***; the token needs the permission pull-requests: write and contents: write"},
		{"it cannot be described", saying(409, ""), saying(200, "["+aPull+"]"), saying(403, `{"message": "no"}`), "describing pull request 4 of acme/shop: GitHub answered 403 Forbidden: no; the token needs the permission pull-requests: write and contents: write"},
		{"nor list", saying(502, ""), saying(403, `{"message": "no"}`), nil, opening + "listing the pull requests of acme/shop: GitHub answered 403 Forbidden: no; the token needs the permission pull-requests: write and contents: write"},
		{"huge", saying(201, strings.Repeat(" ", 16<<20+1)), saying(200, "[]"), nil, opening + "the answer is larger than 16 MiB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var sent, described map[string]any
			s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"GET " + pullsPath: func(w http.ResponseWriter, r *http.Request) {
				if head := r.URL.Query().Get("head"); head != "acme:"+four.Branch {
					t.Errorf("listed the pull requests from %q", head)
				}
				c.listed(w, r)
			}, "POST " + pullsPath: func(w http.ResponseWriter, r *http.Request) {
				_ = json.NewDecoder(r.Body).Decode(&sent) // compared below
				c.created(w, r)
			}, "PATCH " + pullsPath + "/4": func(w http.ResponseWriter, r *http.Request) {
				_ = json.NewDecoder(r.Body).Decode(&described) // compared below
				c.edited(w, r)
			}}}
			got, err := newClient(t, github.Config{Transport: direct{s}}).Open(t.Context(), review.NewPull{Branch: four.Branch, Base: "main", Title: "Title", Body: "Body"})
			if textOf(err) != c.want || c.want == "" && got != four {
				t.Errorf("%+v, %v\nwant %s", got, err, c.want)
			}
			if diff := cmp.Diff(map[string]any{"title": "Title", "body": "Body", "head": four.Branch, "base": "main"}, sent); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if want := map[string]any{"title": "Title", "body": "Body"}; c.edited != nil && !cmp.Equal(want, described) {
				t.Errorf("described it as %v, want %v", described, want)
			}
		})
	}
}

// TestClosePull: it closes also what takes no comment, and deletes the branch of what it has
// closed alone.
func TestClosePull(t *testing.T) {
	t.Parallel()
	const comment, closed, branch = "POST /repos/acme/shop/issues/4/comments", "PATCH " + pullsPath + "/4", "DELETE /repos/acme/shop/git/refs/heads/promote-web-prod.1-10"
	commented := saying(201, `{"id": 1, "user": {"login": "bot"}}`)
	for _, c := range []struct {
		name    string
		answers map[string]func(http.ResponseWriter, *http.Request)
		asked   []string
		want    string
	}{
		{"closed", map[string]func(http.ResponseWriter, *http.Request){comment: commented, closed: saying(200, aPull), branch: saying(204, "")}, []string{closed, comment, branch}, ""},
		{"its branch stays", map[string]func(http.ResponseWriter, *http.Request){comment: commented, closed: saying(200, aPull), branch: saying(403, "{}")}, []string{closed, comment, branch}, ""},
		{"no comment", map[string]func(http.ResponseWriter, *http.Request){comment: saying(403, `{"message": "Commenting is disabled on issues with more than 2500 comments"}`), closed: saying(200, aPull), branch: saying(204, "")}, []string{closed, comment, branch}, ""},
		{"not closed", map[string]func(http.ResponseWriter, *http.Request){comment: commented, closed: saying(403, `{"message": "no"}`)}, []string{closed},
			"closing pull request 4 of acme/shop: GitHub answered 403 Forbidden: no; the token needs the permission pull-requests: write and contents: write"},
	} {
		s := &routed{answers: c.answers}
		err := newClient(t, github.Config{Transport: direct{s}}).ClosePull(t.Context(), 4, "Superseded by #5.")
		if diff := cmp.Diff(c.asked, s.asked); diff != "" || textOf(err) != c.want {
			t.Errorf("%s: %v\nwant %s\nasked (-want +got):\n%s", c.name, err, c.want, diff)
		}
	}
}

func TestDeleteBranch(t *testing.T) {
	t.Parallel()
	const path = "/repos/acme/shop/git/refs/heads/promote-x"
	for status, want := range map[int]string{
		204: "", 404: "", 422: "", // it is gone
		403: "deleting branch promote-x of acme/shop: GitHub answered 403 Forbidden: protected, says ***; the token needs the permission contents: write",
	} {
		s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"DELETE " + path: saying(status, `{"message": "protected, says `+token+`"}`)}}
		if status == 204 {
			s.answers["DELETE "+path] = saying(204, "")
		}
		err := newClient(t, github.Config{Transport: direct{s}}).DeleteBranch(t.Context(), "promote-x")
		if textOf(err) != want || len(s.asked) != 1 {
			t.Errorf("%d: %v after %q\nwant %s", status, err, s.asked, want)
		}
	}
}

// TestOpenAway: who cannot open a pull request while the forge is away may try again.
func TestOpenAway(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]bool{500: true, 502: true, 503: true, 501: false, 401: false, 422: false} {
		synctest.Test(t, func(t *testing.T) {
			s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){"GET " + pullsPath: saying(status, ""), "POST " + pullsPath: saying(status, "")}}
			_, err := newClient(t, github.Config{Transport: direct{s}}).Open(t.Context(), review.NewPull{Branch: four.Branch, Base: "main"})
			if _, away := errors.AsType[*review.AwayError](err); away != want {
				t.Errorf("%d: %v is of a forge that is away: %t", status, err, away)
			}
		})
	}
}

// TestDeleteBranchByName has names that git takes for branches: what is deleted is that branch.
func TestDeleteBranchByName(t *testing.T) {
	t.Parallel()
	var asked string
	c := newClient(t, github.Config{Transport: direct{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.EscapedPath()
		w.WriteHeader(http.StatusNoContent)
	})}})
	for name, want := range map[string]string{
		"promote-t.a": "promote-t.a", "a/b": "a/b", "promote-t.a#b": "promote-t.a%23b", "promote-t.a?b": "promote-t.a%3Fb", "promote-t.x/%2e%2e/main": "promote-t.x/%252e%252e/main",
	} {
		if err := c.DeleteBranch(t.Context(), name); err != nil || asked != "/repos/acme/shop/git/refs/heads/"+want {
			t.Errorf("%s: %v, asked to delete %s", name, err, asked)
		}
	}
}

// TestPullRequestOfAMerge has somebody open a pull request, from a fork, whose head is a commit
// that another one was merged as.
func TestPullRequestOfAMerge(t *testing.T) {
	t.Parallel()
	c := newClient(t, github.Config{Transport: direct{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"number": 12, "state": "closed", "merged_at": "2026-01-01T00:00:00Z", "merge_commit_sha": "c0ffee", "head": {"sha": "2"}, "base": {"ref": "main", "repo": {"full_name": "acme/shop"}}},
			{"number": 66, "state": "open", "head": {"sha": "c0ffee", "repo": {"full_name": "eve/shop"}}, "base": {"ref": "old", "repo": {"full_name": "acme/shop"}}}]`)
	})}})
	if n, err := c.PullRequestOf(t.Context(), "c0ffee"); n != 12 || err != nil {
		t.Errorf("the commit is of pull request %d, %v; want 12", n, err)
	}
}
