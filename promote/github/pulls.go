package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/acme/knative-promote/promote/review"
)

// OpenPulls are the open pull requests into a branch, from those of the
// repository itself whose names begin with the prefix. Beside ErrMany of package review they are those that were read.
func (c *Client) OpenPulls(ctx context.Context, base, prefix string) ([]review.PullRequest, error) {
	return openPulls(ctx, c, base, "", prefix)
}

// openPulls are those from a branch alone, where one is given and the forge selects by that: others
// may have opened more than are read.
func openPulls(ctx context.Context, c *Client, base, branch, prefix string) (found []review.PullRequest, err error) {
	options := &github.PullRequestListOptions{State: "open", Base: base, ListOptions: github.ListOptions{PerPage: 100}}
	if branch != "" {
		options.Head = c.owner + ":" + branch
	}
	for range maxPages {
		pulls, response, err := c.api.PullRequests.List(ctx, c.owner, c.name, options)
		if err != nil {
			return nil, fmt.Errorf("listing the pull requests of %s/%s: %w", c.owner, c.name, c.Explain(err, MayPropose))
		}
		for _, p := range pulls {
			own := strings.EqualFold(p.GetHead().GetRepo().GetFullName(), c.owner+"/"+c.name)
			if own && p.GetBase().GetRef() == base && strings.HasPrefix(p.GetHead().GetRef(), prefix) {
				found = append(found, pullOf(p))
			}
		}
		if response.NextPage == 0 {
			return found, nil
		}
		options.Page = response.NextPage
	}
	return found, fmt.Errorf("listing the pull requests of %s/%s: %w: %d pages of them, and others are open: close some", c.owner, c.name, review.ErrMany, maxPages)
}

// Open opens a pull request. Where there is an open one of the same branch, it
// is that, with this title and body: anybody may have opened it, and who reviews it
// takes what it says for what the run does.
func (c *Client) Open(ctx context.Context, n review.NewPull) (review.PullRequest, error) {
	made, _, err := c.api.PullRequests.Create(ctx, c.owner, c.name, &github.NewPullRequest{Title: &n.Title, Body: &n.Body, Head: &n.Branch, Base: &n.Base})
	if err == nil {
		return pullOf(made), nil
	}
	// GitHub says 422 to a second one, and Gitea 409; an answer may have been lost.
	open, listed := openPulls(ctx, c, n.Base, n.Branch, n.Branch)
	for _, p := range open {
		if p.Branch == n.Branch {
			return p, describe(ctx, c, p.Number, n)
		}
	}
	if listed == nil {
		listed = c.Explain(err, MayPropose)
	}
	return review.PullRequest{}, fmt.Errorf("opening a pull request of branch %s in %s/%s: %w", n.Branch, c.owner, c.name, listed)
}

// describe gives an open pull request a title and a body.
func describe(ctx context.Context, c *Client, number int, n review.NewPull) error {
	_, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &github.PullRequest{Title: &n.Title, Body: &n.Body})
	if err != nil {
		return fmt.Errorf("describing pull request %d of %s: %w", number, c.Name(), c.Explain(err, MayPropose))
	}
	return nil
}

// Pull is a pull request as it is now.
func (c *Client) Pull(ctx context.Context, number int) (review.PullRequest, error) {
	p, _, err := c.Mergeable(ctx, number)
	return p, err
}

// Mergeable is a pull request as it is now, and whether it has no conflicts, as far as
// the forge has looked for them.
func (c *Client) Mergeable(ctx context.Context, number int) (review.PullRequest, bool, error) {
	p, _, err := c.api.PullRequests.Get(ctx, c.owner, c.name, number)
	if err != nil {
		return review.PullRequest{}, false, fmt.Errorf("reading pull request %d of %s: %w", number, c.Name(), c.Explain(err, MayPropose))
	}
	return pullOf(p), p.GetMergeable(), nil
}

// ClosePull closes a pull request with a comment that says why, and deletes its
// branch.
func (c *Client) ClosePull(ctx context.Context, number int, comment string) error {
	branch, err := c.Close(ctx, number, comment)
	if err == nil {
		_ = c.DeleteBranch(ctx, branch) // one that stays is in nobody's way
	}
	return err
}

// Close closes a pull request, says why in a comment, and tells its branch. One that takes no
// comment any more, as whoever opened it can have it, is closed without.
func (c *Client) Close(ctx context.Context, number int, comment string) (branch string, err error) {
	closed, _, err := c.api.PullRequests.Edit(ctx, c.owner, c.name, number, &github.PullRequest{State: github.String("closed")})
	if err != nil {
		return "", fmt.Errorf("closing pull request %d of %s: %w", number, c.Name(), c.Explain(err, MayPropose))
	}
	_, _ = createComment(ctx, c, number, comment)
	return closed.GetHead().GetRef(), nil
}

// DeleteBranch deletes a branch, where the forge has not done that itself.
func (c *Client) DeleteBranch(ctx context.Context, branch string) error {
	return c.Delete(ctx, branch, c.Path("git/refs/heads/%s", EscapedBranch(branch)))
}

// EscapedBranch is a branch's name in a path of the API. Who opens a pull request names it.
func EscapedBranch(branch string) string {
	parts := strings.Split(branch, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// Delete deletes a branch by its path in the API.
func (c *Client) Delete(ctx context.Context, branch, path string) error {
	_, err := c.Send(ctx, http.MethodDelete, path, nil)
	if code := StatusOf(err); code == http.StatusNotFound || code == http.StatusUnprocessableEntity { // it is gone
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting branch %s of %s: %w", branch, c.Name(), c.Explain(err, "contents: write"))
	}
	return nil
}

func pullOf(p *github.PullRequest) review.PullRequest {
	found := review.PullRequest{
		Number: p.GetNumber(), URL: p.GetHTMLURL(), Branch: p.GetHead().GetRef(), Base: p.GetBase().GetRef(), Head: p.GetHead().GetSHA(),
		State: review.State(cmp.Or(p.GetState(), string(review.Open))), Node: p.GetNodeID(),
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
