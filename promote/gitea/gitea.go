// Package gitea is Gitea and Forgejo, which speak GitHub's API below another path and
// without GraphQL: what they do otherwise.
package gitea

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/acme/knative-promote/internal/sleep"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/review"
)

// Is tells by the address of the API whether a forge is one of these.
func Is(api string) bool { return strings.HasSuffix(strings.TrimSuffix(api, "/"), "/api/v1") }

// Client talks to one repository, by GitHub's requests where they are the same.
type Client struct{ *github.Client }

// BranchRules are the forge's rules of a branch: it says what the token's owner may do
// with that.
func (c Client) BranchRules(ctx context.Context, branch string) (review.Rules, error) {
	var answer struct {
		Protected bool `json:"protected"`
		MayPush   bool `json:"user_can_push"`
		MayMerge  bool `json:"user_can_merge"`
		Approvals int  `json:"required_approvals"`
	}
	if err := c.Read(ctx, c.Path("branches/%s", url.PathEscape(branch)), &answer); err != nil {
		return review.Rules{}, fmt.Errorf("reading the rules of branch %s of %s: %w", branch, c.Name(), c.Explain(err, "metadata: read"))
	}
	rules := review.Rules{Wants: review.Approvals(answer.Approvals), May: review.Yes}
	if answer.Protected && !answer.MayMerge {
		rules.Wants = append(rules.Wants, "somebody who may merge it, which the token's owner may not")
	}
	if answer.Protected && !answer.MayPush {
		rules.NoPush, rules.May = []string{"the branch is protected"}, review.No
	}
	return rules, nil
}

// The pauses while the forge looks for conflicts, and says meanwhile that there are.
const (
	conflictLooks = 5
	conflictPause = time.Second
)

// Pull is a pull request as it is now.
func (c Client) Pull(ctx context.Context, number int) (review.PullRequest, error) {
	for look := 1; ; look++ {
		found, mergeable, err := c.Mergeable(ctx, number)
		if err != nil || found.State != review.Open || mergeable {
			return found, err
		}
		if look == conflictLooks {
			found.Block = review.Conflict
			return found, nil
		}
		if err := sleep.For(ctx, conflictPause); err != nil {
			return review.PullRequest{}, err
		}
	}
}

// ClosePull closes a pull request with a comment that says why, and deletes its
// branch.
func (c Client) ClosePull(ctx context.Context, number int, comment string) error {
	branch, err := c.Close(ctx, number, comment)
	if err == nil {
		_ = c.DeleteBranch(ctx, branch) // one that stays is in nobody's way
	}
	return err
}

// DeleteBranch deletes a branch, where the forge has not done that itself.
func (c Client) DeleteBranch(ctx context.Context, branch string) error {
	return c.Delete(ctx, branch, c.Path("branches/%s", github.EscapedBranch(branch)))
}
