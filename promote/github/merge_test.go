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
	cleanStatus   = "Pull request Pull request is in clean status"
	unprotected   = "Pull request Protected branch rules not configured for this branch"
	notAllowed    = "Pull request Auto merge is not allowed for this repository"
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
		fmt.Fprint(w, `{"data": {"node": {"repository": {"squashMergeAllowed": true}}}}`)
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

var clean = review.PullRequest{Number: 4, Node: "PR_4", Head: "c0ffee", Clean: true}

// TestMergePull has each answer to the three ways to merge: by auto-merge, else by
// the queue, else at once.
func TestMergePull(t *testing.T) {
	t.Parallel()
	const auto, queue, merge = "enablePullRequestAutoMerge", "enqueuePullRequest", "mergePullRequest"
	blocked, unknown := clean, clean
	draft := clean
	blocked.Clean, blocked.Block, unknown.Clean, draft.Clean, draft.Block = false, review.Blocked, false, false, review.Draft
	for _, c := range []struct {
		name  string
		pull  review.PullRequest
		says  map[string]string
		want  review.Merging
		err   string
		asked []string
	}{
		{"waits for a status", blocked, nil, review.Scheduled, "", []string{auto}},
		{"is scheduled already", blocked, map[string]string{auto: "Auto-merge is already enabled"}, review.Scheduled, "", []string{auto}},
		{"nothing to wait for", clean, map[string]string{auto: cleanStatus, queue: noQueue}, review.Done, "", []string{auto, queue, merge}},
		{"a branch without rules", clean, map[string]string{auto: unprotected, queue: noQueue}, review.Done, "", []string{auto, queue, merge}},
		{"a queue", clean, map[string]string{auto: cleanStatus}, review.Queued, "", []string{auto, queue}},
		{"in the queue already", clean, map[string]string{auto: cleanStatus, queue: "Pull request is already in the queue"}, review.Queued, "", []string{auto, queue}},
		{"thrown out of the queue", blocked, map[string]string{auto: notAllowed, queue: "Required status check \"e2e\" is failing."}, "",
			"not merged by the forge: " + notAllowed + ": reviews or statuses are missing that the branch's rules want: allow auto-merge in the repository's settings, or merge it by hand", []string{auto, queue}},
		{"blocked, and the token may bypass that", blocked, map[string]string{auto: notAllowed, queue: noQueue}, "",
			"not merged by the forge: " + notAllowed + ": reviews or statuses are missing that the branch's rules want: allow auto-merge in the repository's settings, or merge it by hand", []string{auto, queue}},
		{"a draft", draft, map[string]string{auto: "Pull request is in draft status", queue: noQueue}, "",
			"not merged by the forge: Pull request is in draft status: it is a draft: mark it as ready for review", []string{auto, queue}},
		{"GitHub looks for conflicts", unknown, map[string]string{auto: "Pull request is in unknown status", queue: noQueue}, review.Asked, "", []string{auto, queue}},
		{"head moved", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: headModified}, review.Asked, "", []string{auto, queue, merge}},
		{"base moved", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: baseModified}, review.Asked, "", []string{auto, queue, merge}},
		{"merged meanwhile", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: alreadyMerged}, review.Asked, "", []string{auto, queue, merge}},
		{"a review is missing", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: needsReview}, "", "not merged by the forge: " + needsReview, []string{auto, queue, merge}},
		{"a token in the words", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: "hook: " + token + "\n::error::forged"}, "",
			"not merged by the forge: hook: *** ::error::forged", []string{auto, queue, merge}},
		{"endless words", clean, map[string]string{auto: cleanStatus, queue: noQueue, merge: strings.Repeat("no ", 1<<20)}, "",
			"not merged by the forge: " + strings.TrimSpace(strings.Repeat("no ", 100)) + "…", []string{auto, queue, merge}},
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
			if m.input["pullRequestId"] != "PR_4" || m.input["expectedHeadOid"] != "c0ffee" {
				t.Errorf("the last mutation has the input %v, want the pull request's node and head", m.input)
			}
		})
	}
}

// TestMergePullUnanswered has each of the three ways end without an answer: that
// is no reason to try the next one, which could merge past what is missing.
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
		for n, name := range []string{"enablePullRequestAutoMerge", "enqueuePullRequest", "mergePullRequest"} {
			t.Run(c.name+" to "+name, func(t *testing.T) {
				t.Parallel()
				m := &mutations{says: map[string]string{"enablePullRequestAutoMerge": cleanStatus, "enqueuePullRequest": noQueue}}
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

// TestCancelMerge: a forge that has nothing to cancel says so, and that is fine.
// Not to know whether it was cancelled is not.
func TestCancelMerge(t *testing.T) {
	t.Parallel()
	const keeping = "keeping pull request 4 of acme/shop from being merged: "
	const auto, queue = "disablePullRequestAutoMerge", "dequeuePullRequest"
	for _, c := range []struct {
		name  string
		says  map[string]string
		fails string
		want  string
	}{
		{"both", nil, "", ""},
		{"nothing", map[string]string{auto: "Can't disable auto-merge for this pull request.", queue: "Pull request is not in the queue"}, "", ""},
		{"auto-merge unanswered", map[string]string{queue: "Pull request is not in the queue"}, auto, keeping + "GitHub answered 502 Bad Gateway"},
		{"trouble", map[string]string{auto: trouble, queue: noQueue}, "", keeping + "GitHub answered without a reason: " + trouble},
		{"queue unanswered", nil, queue, keeping + "GitHub answered 502 Bad Gateway"},
	} {
		m := &mutations{says: c.says, squat: func(w http.ResponseWriter, name string) bool {
			if name == c.fails {
				w.WriteHeader(http.StatusBadGateway)
			}
			return name == c.fails
		}}
		err := newClient(t, github.Config{Transport: direct{m}}).CancelMerge(t.Context(), clean)
		if textOf(err) != c.want || len(m.asked) != 2 {
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
