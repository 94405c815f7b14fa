package github_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

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
			review.Rules{Approvals: 1, May: review.Yes, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"bypassed by pull requests alone", map[string]string{rules: `[` + review1 + `]`, ruleset + "7": `{"current_user_can_bypass": "pull_requests_only"}`},
			review.Rules{Approvals: 1, May: review.No, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"a ruleset that the token may not read", map[string]string{rules: `[` + review1 + `]`},
			review.Rules{Approvals: 1, NoPush: []string{"changes come by pull requests with 1 approvals"}}},
		{"of two rulesets one is bypassed", map[string]string{
			rules: `[` + review1 + `, {"type": "update", "ruleset_id": 8}]`, ruleset + "7": `{"current_user_can_bypass": "always"}`, ruleset + "8": `{"current_user_can_bypass": "never"}`,
		}, review.Rules{Approvals: 1, May: review.No, NoPush: []string{"changes come by pull requests with 1 approvals", "updates are restricted"}}},
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

func TestBranchRulesOfGitea(t *testing.T) {
	t.Parallel()
	const branch = "/api/v1/repos/acme/shop/branches/release%2F1"
	for answer, want := range map[string]review.Rules{
		`{"protected": false, "user_can_push": true}`:                          {May: review.Yes},
		`{"protected": true, "user_can_push": true, "required_approvals": 2}`:  {May: review.Yes, Approvals: 2},
		`{"protected": true, "user_can_push": false, "required_approvals": 1}`: {May: review.No, Approvals: 1, NoPush: []string{"the branch is protected"}},
	} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.EscapedPath() != branch {
				t.Errorf("asked for %s, want %s", r.URL.EscapedPath(), branch)
			}
			fmt.Fprint(w, answer)
		})
		got, err := serve(t, handler, "/api/v1").BranchRules(t.Context(), "release/1")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules of %s (-want +got):\n%s", answer, diff)
		}
	}
}

func TestBranchRulesUnread(t *testing.T) {
	t.Parallel()
	_, err := serve(t, forgeWith(nil), "").BranchRules(t.Context(), "main")
	want := "reading the rules of branch main of acme/shop: GitHub answered 404 Not Found: Not Found; it does not exist, or the token cannot see it"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
