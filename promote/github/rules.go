package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/acme/knative-promote/promote/review"
)

// A branchRule is one of GitHub's rules of a branch. go-github v60 knows not all
// of them, and refuses the whole list for one that it does not know
// (https://docs.github.com/rest/repos/rules#get-rules-for-a-branch).
type branchRule struct {
	Type       string `json:"type"`
	Ruleset    int64  `json:"ruleset_id"`
	Parameters struct {
		Approvals int                        `json:"required_approving_review_count"`
		Owners    bool                       `json:"require_code_owner_review"`
		Statuses  []struct{ Context string } `json:"required_status_checks"`
	} `json:"parameters"`
}

// BranchRules are the forge's rules of a branch, as far as the token may read
// them.
func (c *Client) BranchRules(ctx context.Context, branch string) (review.Rules, error) {
	rules, err := rulesetsOf(ctx, c, branch)
	if err != nil {
		return review.Rules{}, fmt.Errorf("reading the rules of branch %s of %s: %w", branch, c.Name(), c.Explain(err, "metadata: read"))
	}
	return rules, nil
}

func rulesetsOf(ctx context.Context, c *Client, branch string) (review.Rules, error) {
	var list []branchRule
	if err := c.Read(ctx, c.Path("rules/branches/%s?per_page=100", url.PathEscape(branch)), &list); err != nil {
		return review.Rules{}, err
	}
	var rules review.Rules
	may := map[int64]review.May{} // by ruleset
	for _, r := range list {
		if r.Type == "required_signatures" {
			rules.Signatures = true
		}
		if r.Type == "pull_request" {
			rules.Wants = append(rules.Wants, r.wants()...)
		}
		words := r.words()
		if words == "" {
			continue
		}
		if _, asked := may[r.Ruleset]; !asked {
			may[r.Ruleset] = bypassOf(ctx, c, r.Ruleset)
		}
		rules.NoPush = append(rules.NoPush, words)
	}
	rules.May = all(may)
	slices.Sort(rules.Wants)
	rules.Wants = slices.Compact(rules.Wants)
	return rules, nil
}

// wants are what a rule of pull requests wants that a person has to give.
func (r branchRule) wants() []string {
	wants := review.Approvals(r.Parameters.Approvals)
	if r.Parameters.Owners {
		wants = append(wants, "the review of a code owner, where a changed file has one")
	}
	return wants
}

// words are what a rule wants that a push cannot give; empty: nothing.
func (r branchRule) words() string {
	switch r.Type {
	case "pull_request":
		return fmt.Sprintf("changes come by pull requests with %d approvals", r.Parameters.Approvals)
	case "required_status_checks":
		var names []string
		for _, s := range r.Parameters.Statuses {
			names = append(names, s.Context)
		}
		return "statuses must be there: " + strings.Join(names, ", ")
	case "merge_queue":
		return "changes come by the merge queue"
	case "required_deployments":
		return "deployments must have succeeded"
	case "update":
		return "updates are restricted"
	}
	return ""
}

// bypassOf tells whether the token's owner may push past a ruleset.
func bypassOf(ctx context.Context, c *Client, ruleset int64) review.May {
	var answer struct {
		May string `json:"current_user_can_bypass"`
	}
	if err := c.Read(ctx, c.Path("rulesets/%d", ruleset), &answer); err != nil {
		return "" // which not every token may read
	}
	switch answer.May {
	case "always", "exempt":
		return review.Yes
	case "never", "pull_requests_only":
		return review.No
	}
	return ""
}

// all is the answer of several rulesets: each must be bypassed.
func all(answers map[int64]review.May) review.May {
	whole := review.Yes
	for _, may := range answers {
		switch {
		case may == review.No:
			return review.No
		case may == "":
			whole = ""
		}
	}
	if len(answers) == 0 {
		return ""
	}
	return whole
}
