package github_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

// What GitHub is known to say to the mutations of pull requests.
const (
	noQueue       = "The merge queue is not enabled for this branch"
	headModified  = "Head branch was modified. Review and try the merge again."
	baseModified  = "Base branch was modified. Review and try the merge again."
	needsReview   = "At least 1 approving review is required by reviewers with write access."
	trouble       = "Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug."
	alreadyMerged = "Pull Request is already merged"
)

// mutations answers each mutation with what it says, or with data where that is
// empty, and keeps what was asked.
type mutations struct {
	says  map[string]string
	squat func(w http.ResponseWriter, name string) bool // answers in its place
	asked []string
	input map[string]any // of the last one
}

func (m *mutations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Query     string
		Variables struct{ Input map[string]any }
	}
	_ = json.NewDecoder(r.Body).Decode(&asked) // the tests see what is missing
	found := regexp.MustCompile(`\{ (\w+)\(input`).FindStringSubmatch(asked.Query)
	if found == nil {
		fmt.Fprint(w, `{"data": {"node": {"baseRefName": "main", "repository": {"squashMergeAllowed": true}}}}`)
		return
	}
	m.asked, m.input = append(m.asked, found[1]), asked.Variables.Input
	if m.squat != nil && m.squat(w, found[1]) {
		return
	}
	answer := map[string]any{"data": map[string]any{}}
	if said := m.says[found[1]]; said != "" {
		answer = map[string]any{"data": nil, "errors": []any{map[string]any{"type": "UNPROCESSABLE", "message": said}}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

var clean = review.PullRequest{Number: 4, Node: "PR_4", Head: "c0ffee", Base: "main", Clean: true}

// TestMergePull has each answer to the two ways to merge: by the queue, else at once.
func TestMergePull(t *testing.T) {
	t.Parallel()
	const queue, merge = "enqueuePullRequest", "mergePullRequest"
	const missing = "not merged by the forge: reviews or statuses are missing that the branch's rules want"
	blocked, unknown, draft := clean, clean, clean
	elsewhere := clean
	elsewhere.Base = "staging"
	blocked.Clean, blocked.Block, unknown.Clean, draft.Clean, draft.Block = false, review.Blocked, false, false, review.Draft
	for _, c := range []struct {
		name  string
		pull  review.PullRequest
		says  map[string]string
		want  review.Merging
		err   string
		asked []string
	}{
		{"waits for a status", blocked, map[string]string{queue: noQueue}, "", missing, []string{queue}},
		{"nothing to wait for", clean, map[string]string{queue: noQueue}, review.Done, "", []string{queue, merge}},
		{"a queue", clean, nil, review.Queued, "", []string{queue}},
		{"blocked by the queue", blocked, nil, review.Queued, "", []string{queue}},
		{"in the queue already", clean, map[string]string{queue: "Pull request is already in the queue"}, review.Queued, "", []string{queue}},
		{"thrown out of the queue", blocked, map[string]string{queue: "Required status check \"e2e\" is failing."}, "", missing, []string{queue}},
		{"its base was changed after the look", elsewhere, nil, "", "not merged by the forge: somebody has changed its base to main", nil},
		{"a draft", draft, nil, "", "not merged by the forge: it is a draft: mark it as ready for review", nil},
		{"GitHub looks for conflicts", unknown, map[string]string{queue: noQueue}, review.Asked, "", []string{queue}},
		{"head moved", clean, map[string]string{queue: noQueue, merge: headModified}, review.Asked, "", []string{queue, merge}},
		{"base moved", clean, map[string]string{queue: noQueue, merge: baseModified}, review.Asked, "", []string{queue, merge}},
		{"merged meanwhile", clean, map[string]string{queue: noQueue, merge: alreadyMerged}, review.Asked, "", []string{queue, merge}},
		{"a review is missing", clean, map[string]string{queue: noQueue, merge: needsReview}, "", "not merged by the forge: " + needsReview, []string{queue, merge}},
		{"a token in the words", clean, map[string]string{queue: noQueue, merge: "hook: " + token + "\n::error::forged"}, "",
			"not merged by the forge: hook: *** ::error::forged", []string{queue, merge}},
		{"endless words", clean, map[string]string{queue: noQueue, merge: strings.Repeat("no ", 1<<20)}, "",
			"not merged by the forge: " + strings.TrimSpace(strings.Repeat("no ", 100)) + "…", []string{queue, merge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &mutations{says: c.says}
			got, err := newClient(t, github.Config{Transport: direct{m}}).MergePull(t.Context(), c.pull, "Title", "Body")
			if text := textOf(err); got != c.want || text != c.err || errors.Is(err, review.ErrNotMergeable) != (c.err != "") {
				t.Errorf("%q, %s\nwant %q, %s", got, text, c.want, c.err)
			}
			if diff := cmp.Diff(c.asked, m.asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			if len(m.asked) > 0 && (m.input["pullRequestId"] != "PR_4" || m.input["expectedHeadOid"] != "c0ffee") {
				t.Errorf("the last mutation has the input %v, want the pull request's node and head", m.input)
			}
		})
	}
}

// TestMergePullUnanswered has both ways end without an answer: that is no reason to try
// the next one, which could merge past what is missing.
func TestMergePullUnanswered(t *testing.T) {
	t.Parallel()
	const merging = "merging pull request 4 of acme/shop: "
	for _, c := range []struct {
		name, want string
		squat      func(w http.ResponseWriter)
	}{
		{"502", merging + "GitHub answered 502 Bad Gateway", func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway); fmt.Fprint(w, "<html>") }},
		{"401", merging + "GitHub answered 401 Unauthorized: Bad credentials; the token is wrong or has expired", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"message": "Bad credentials"}`)
		}},
		{"login page", merging + "invalid character '<' looking for beginning of value", func(w http.ResponseWriter) { fmt.Fprint(w, "<html>log in") }},
		{"huge", merging + "the answer is larger than 16 MiB", func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat(" ", 16<<20+1)) }},
		{"no words", merging + "GitHub answered without a reason: nothing", func(w http.ResponseWriter) { fmt.Fprint(w, `{"errors": [{"message": ""}]}`) }},
		{"trouble", merging + "GitHub answered without a reason: " + trouble, func(w http.ResponseWriter) { fmt.Fprintf(w, `{"errors": [{"message": %q}]}`, trouble) }},
		{"token", merging + "GitHub answered 403 Forbidden: *** may not; the token needs the permission pull-requests: write and contents: write", func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"message": "%s may not"}`, token)
		}},
	} {
		for n, name := range []string{"enqueuePullRequest", "mergePullRequest"} {
			t.Run(c.name+" to "+name, func(t *testing.T) {
				t.Parallel()
				m := &mutations{says: map[string]string{"enqueuePullRequest": noQueue}}
				m.squat = func(w http.ResponseWriter, asked string) bool {
					if asked == name {
						c.squat(w)
					}
					return asked == name
				}
				got, err := newClient(t, github.Config{Transport: direct{m}}).MergePull(t.Context(), clean, "Title", "Body")
				if textOf(err) != c.want || got != "" || errors.Is(err, review.ErrNotMergeable) {
					t.Errorf("%q, %v\nwant %s", got, err, c.want)
				}
				if len(m.asked) != n+1 {
					t.Errorf("asked %q, want nothing after %s", m.asked, name)
				}
			})
		}
	}
}

// TestDequeue: a forge that has nothing to take out of its queue says so, and that is fine.
// Not to know whether it was taken out is not.
func TestDequeue(t *testing.T) {
	t.Parallel()
	const taking = "taking pull request 4 of acme/shop out of the merge queue: "
	for _, c := range []struct {
		name, says string
		fails      bool
		want       string
	}{
		{"taken out", "", false, ""},
		{"in none", "Pull request is not in the queue", false, ""},
		{"trouble", trouble, false, taking + "GitHub answered without a reason: " + trouble},
		{"unanswered", "", true, taking + "GitHub answered 502 Bad Gateway"},
	} {
		m := &mutations{says: map[string]string{"dequeuePullRequest": c.says}, squat: func(w http.ResponseWriter, _ string) bool {
			if c.fails {
				w.WriteHeader(http.StatusBadGateway)
			}
			return c.fails
		}}
		err := newClient(t, github.Config{Transport: direct{m}}).Dequeue(t.Context(), clean)
		if textOf(err) != c.want || len(m.asked) != 1 {
			t.Errorf("%s: %v after %q\nwant %s", c.name, err, m.asked, c.want)
		}
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
