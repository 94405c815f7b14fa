package github_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

// forgeWith answers requests by their paths.
func forgeWith(answers map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			w.WriteHeader(http.StatusNotFound)
			answer = `{"message": "Not Found"}`
		}
		fmt.Fprint(w, answer)
	})
}

func TestBranchRules(t *testing.T) {
	t.Parallel()
	const rules, ruleset = "/repos/acme/shop/rules/branches/main", "/repos/acme/shop/rulesets/"
	const review1 = `{"type": "pull_request", "ruleset_id": 7, "parameters": {"required_approving_review_count": 1}}`
	for _, test := range []struct {
		name    string
		answers map[string]string
		want    review.Rules
	}{
		{"none", map[string]string{rules: `[]`}, review.Rules{}},
		{"of no concern", map[string]string{rules: `[{"type": "deletion", "ruleset_id": 7}, {"type": "non_fast_forward", "ruleset_id": 7}]`}, review.Rules{}},
		// What go-github v60 does not know, and a shape that it panics on.
		{"of every kind", map[string]string{
			rules: `[{"type": "pull_request", "ruleset_id": 7}, {"type": "merge_queue", "ruleset_id": 7, "parameters": {"merge_method": "SQUASH"}},
				{"type": "copilot_code_review", "ruleset_id": 8}, {"type": "required_signatures", "ruleset_id": 7}, {"type": "update", "ruleset_id": 7},
				{"type": "required_deployments", "ruleset_id": 7},
				{"type": "required_status_checks", "ruleset_id": 7, "parameters": {"required_status_checks": [{"context": "lint"}, {"context": "e2e", "integration_id": 5}]}}]`,
			ruleset + "7": `{"current_user_can_bypass": "never"}`,
		}, review.Rules{Signatures: true, May: review.No, NoPush: []string{
			"changes come by pull requests with 0 approvals", "changes come by the merge queue", "updates are restricted",
			"deployments must have succeeded", "statuses must be there: lint, e2e",
		}}},
		{"bypassed", map[string]string{rules: `[` + review1 + `]`, ruleset + "7": `{"current_user_can_bypass": "always"}`},
			review.Rules{Wants: []string{"1 approval"}, May: review.Yes, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"bypassed by pull requests alone", map[string]string{rules: `[` + review1 + `]`, ruleset + "7": `{"current_user_can_bypass": "pull_requests_only"}`},
			review.Rules{Wants: []string{"1 approval"}, May: review.No, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"a ruleset that the token may not read", map[string]string{rules: `[` + review1 + `]`},
			review.Rules{Wants: []string{"1 approval"}, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"of code owners", map[string]string{
			rules: `[` + review1 + `, {"type": "pull_request", "ruleset_id": 8, "parameters": {"required_approving_review_count": 1, "require_code_owner_review": true}}]`,
		}, review.Rules{Wants: []string{"1 approval", "the review of a code owner, where a changed file has one"},
			NoPush: []string{"changes come by pull requests with 1 approvals", "changes come by pull requests with 1 approvals"}}},
		{"of two rulesets one is bypassed", map[string]string{
			rules: `[` + review1 + `, {"type": "update", "ruleset_id": 8}]`, ruleset + "7": `{"current_user_can_bypass": "always"}`, ruleset + "8": `{"current_user_can_bypass": "never"}`,
		}, review.Rules{Wants: []string{"1 approval"}, May: review.No, NoPush: []string{"changes come by pull requests with 1 approvals", "updates are restricted"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := serve(t, forgeWith(test.answers), "").BranchRules(t.Context(), "main")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// TestBranchRulesUnread: an answer that is no list of rules is no branch without
// rules.
func TestBranchRulesUnread(t *testing.T) {
	t.Parallel()
	const rules = "GET /repos/acme/shop/rules/branches/main"
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"none", 404, `{"message": "Not Found"}`, "GitHub answered 404 Not Found: Not Found; it does not exist, or the token cannot see it"},
		{"not for this token", 403, `{"message": "not with ` + token + `"}`, "GitHub answered 403 Forbidden: not with ***; the token needs the permission metadata: read"},
		{"login page", 200, "<html>log in", "invalid character '<' looking for beginning of value"},
		{"an object", 200, `{"message": "Moved"}`, "json: cannot unmarshal object into Go value of type []github.branchRule"},
		{"numbers", 200, `[1]`, "json: cannot unmarshal number into Go value of type github.branchRule"},
		{"huge", 200, "[" + strings.Repeat(" ", 16<<20), "the answer is larger than 16 MiB"},
		{"deep", 200, strings.Repeat("[", 1<<20), "invalid character '[' exceeded max depth"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){rules: saying(c.status, c.body)}}
			_, err := newClient(t, github.Config{Transport: direct{s}}).BranchRules(t.Context(), "main")
			if want := "reading the rules of branch main of acme/shop: " + c.want; textOf(err) != want {
				t.Errorf("%s: %v\nwant %s", c.name, err, want)
			}
		})
	}
}

// TestBypassUnread: a ruleset that gets no answer leaves open who may push past it.
func TestBypassUnread(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"current_user_can_bypass": "perhaps"}`, `[]`, "<html>"} {
		s := &routed{answers: map[string]func(http.ResponseWriter, *http.Request){
			"GET /repos/acme/shop/rules/branches/main": saying(200, `[{"type": "update", "ruleset_id": 7}]`),
			"GET /repos/acme/shop/rulesets/7":          saying(200, body),
		}}
		got, err := newClient(t, github.Config{Transport: direct{s}}).BranchRules(t.Context(), "main")
		if diff := cmp.Diff(review.Rules{NoPush: []string{"updates are restricted"}}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
}
