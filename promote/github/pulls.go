package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/acme/knative-promote/gitops/sleep"
	"github.com/acme/knative-promote/promote/review"
)

// OpenPulls are the open pull requests into a branch, from those of the
// repository itself whose names begin with the prefix.
func (c *Client) OpenPulls(ctx context.Context, base, prefix string) ([]review.PullRequest, error) {
	var found []review.PullRequest
	options := &github.PullRequestListOptions{State: "open", Base: base, ListOptions: github.ListOptions{PerPage: 100}}
	for range maxPages {
		pulls, response, err := c.api.PullRequests.List(ctx, c.owner, c.name, options)
		if err != nil {
			return nil, fmt.Errorf("listing the pull requests of %s/%s: %w", c.owner, c.name, c.explain(err, mayPropose))
		}
		for _, p := range pulls {
			own := strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.name)
			if own && p.GetBase().GetRef() == base && strings.HasPrefix(p.GetHead().GetRef(), prefix) {
				found = append(found, pullOf(p))
			}
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	return found, nil
}

// Open opens a pull request. Where there is an open one of the same branch, it
// is that.
func (c *Client) Open(ctx context.Context, n review.NewPull) (review.PullRequest, error) {
	made, _, err := c.api.PullRequests.Create(ctx, c.owner, c.name, &github.NewPullRequest{Title: &n.Title, Body: &n.Body, Head: &n.Branch, Base: &n.Base})
	if err == nil {
		return pullOf(made), nil
	}
	// GitHub says 422 to a second one, and Gitea 409; an answer may have been lost.
	open, listed := c.OpenPulls(ctx, n.Base, n.Branch)
	for _, p := range open {
		if p.Branch == n.Branch {
			return p, nil
		}
	}
	if listed == nil {
		listed = c.explain(err, mayPropose)
	}
	return review.PullRequest{}, fmt.Errorf("opening a pull request of branch %s in %s/%s: %w", n.Branch, c.owner, c.name, listed)
}

// The pauses while Gitea looks for conflicts, and says meanwhile that there are.
const (
	conflictLooks = 5
	conflictPause = time.Second
)

// Pull is a pull request as it is now.
func (c *Client) Pull(ctx context.Context, number int) (review.PullRequest, error) {
	for look := 1; ; look++ {
		p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.name, number)
		if err != nil {
			return review.PullRequest{}, fmt.Errorf("reading pull request %d of %s/%s: %w", number, c.owner, c.name, c.explain(err, mayPropose))
		}
		found := pullOf(p)
		if !c.isGitea() || found.State != review.Open || p.GetMergeable() {
			return found, nil
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
func (c *Client) ClosePull(ctx context.Context, number int, comment string) error {
	doing := fmt.Sprintf("closing pull request %d of %s/%s", number, c.owner, c.name)
	if _, err := c.create(ctx, number, comment); err != nil {
		return fmt.Errorf("%s: %w", doing, c.explain(err, mayPropose))
	}
	closed, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &github.PullRequest{State: github.String("closed")})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, c.explain(err, mayPropose))
	}
	// A branch that stays is in nobody's way.
	_ = c.DeleteBranch(ctx, closed.GetHead().GetRef())
	return nil
}

// DeleteBranch deletes a branch, where the forge has not done that itself.
func (c *Client) DeleteBranch(ctx context.Context, branch string) error {
	path := "git/refs/heads/"
	if c.isGitea() {
		path = "branches/"
	}
	err := c.send(ctx, http.MethodDelete, fmt.Sprintf("repos/%s/%s/%s%s", c.owner, c.name, path, branch), nil)
	if code := status(err); code == http.StatusNotFound || code == http.StatusUnprocessableEntity { // it is gone
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting branch %s of %s/%s: %w", branch, c.owner, c.name, c.explain(err, "contents: write"))
	}
	return nil
}

// isGitea tells whether the forge is Gitea or Forgejo, which speak GitHub's API
// below another path, and have no GraphQL.
func (c *Client) isGitea() bool { return IsGitea(c.api.BaseURL.String()) }

// IsGitea tells that from the address of the API.
func IsGitea(api string) bool { return strings.HasSuffix(strings.TrimSuffix(api, "/"), "/api/v1") }

func pullOf(p *github.PullRequest) review.PullRequest {
	found := review.PullRequest{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Branch: p.GetHead().GetRef(), Base: p.GetBase().GetRef(), Head: p.GetHead().GetSHA(),
		State: review.State(cmp.Or(p.GetState(), string(review.Open))), Node: p.GetNodeID(), Files: p.GetChangedFiles(),
	}
	switch p.GetMergeableState() {
	case "clean", "unstable", "has_hooks":
		found.Clean = true
	}
	switch {
	case p.GetMerged() || p.MergedAt != nil:
		found.State, found.Merge = review.Merged, p.GetMergeCommitSHA()
	case p.GetDraft():
		found.Block = review.Draft
	case p.GetMergeableState() == "dirty":
		found.Block = review.Conflict
	case p.GetMergeableState() == "behind":
		found.Block = review.Behind
	case p.GetMergeableState() == "blocked":
		found.Block = review.Blocked
	}
	return found
}
