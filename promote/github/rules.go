package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
		Statuses  []struct{ Context string } `json:"required_status_checks"`
	} `json:"parameters"`
}

// BranchRules are the forge's rules of a branch, as far as the token may read
// them.
func (c *Client) BranchRules(ctx context.Context, branch string) (review.Rules, error) {
	var rules review.Rules
	var err error
	if c.isGitea() {
		rules, err = c.giteaRules(ctx, branch)
	} else {
		rules, err = c.rulesets(ctx, branch)
	}
	if err != nil {
		return review.Rules{}, fmt.Errorf("reading the rules of branch %s of %s/%s: %w", branch, c.owner, c.name, c.explain(err, "metadata: read"))
	}
	return rules, nil
}

func (c *Client) rulesets(ctx context.Context, branch string) (review.Rules, error) {
	var list []branchRule
	if err := c.read(ctx, fmt.Sprintf("repos/%s/%s/rules/branches/%s?per_page=100", c.owner, c.name, url.PathEscape(branch)), &list); err != nil {
		return review.Rules{}, err
	}
	var rules review.Rules
	may := map[int64]review.May{} // by ruleset
	for _, r := range list {
		if r.Type == "required_signatures" {
			rules.Signatures = true
		}
		if r.Type == "pull_request" {
			rules.Approvals = max(rules.Approvals, r.Parameters.Approvals)
		}
		words := r.words()
		if words == "" {
			continue
		}
		if _, asked := may[r.Ruleset]; !asked {
			may[r.Ruleset] = c.bypass(ctx, r.Ruleset)
		}
		rules.NoPush = append(rules.NoPush, words)
	}
	rules.May = all(may)
	return rules, nil
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

// bypass tells whether the token's owner may push past a ruleset.
func (c *Client) bypass(ctx context.Context, ruleset int64) review.May {
	var answer struct {
		May string `json:"current_user_can_bypass"`
	}
	if err := c.read(ctx, fmt.Sprintf("repos/%s/%s/rulesets/%d", c.owner, c.name, ruleset), &answer); err != nil {
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

// giteaRules are those of Gitea and Forgejo, which say of a branch what the
// token's owner may do with it.
func (c *Client) giteaRules(ctx context.Context, branch string) (review.Rules, error) {
	var answer struct {
		Protected bool `json:"protected"`
		MayPush   bool `json:"user_can_push"`
		Approvals int  `json:"required_approvals"`
	}
	if err := c.read(ctx, fmt.Sprintf("repos/%s/%s/branches/%s", c.owner, c.name, url.PathEscape(branch)), &answer); err != nil {
		return review.Rules{}, err
	}
	rules := review.Rules{Approvals: answer.Approvals, May: review.Yes}
	if answer.Protected && !answer.MayPush {
		rules.NoPush, rules.May = []string{"the branch is protected"}, review.No
	}
	return rules, nil
}

// read reads an answer in JSON that go-github has no type for.
func (c *Client) read(ctx context.Context, path string, into any) error {
	request, err := c.api.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	var raw json.RawMessage
	if _, err := c.api.Do(ctx, request, &raw); err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
