package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// PullRequestOf returns the number of the pull request that a commit came
// from: one that was merged as it, else an open one whose head it is, else any
// open or merged one that has it; of several the newest. It is 0 where there is none.
// Anybody may open one, also of a fork, whose head is a commit that was merged before.
func (c *Client) PullRequestOf(ctx context.Context, commit string) (int, error) {
	options := &github.ListOptions{PerPage: 100}
	pulls, _, err := c.api.PullRequests.ListPullRequestsWithCommit(ctx, c.owner, c.name, url.PathEscape(commit), options)
	switch StatusOf(err) {
	case http.StatusUnprocessableEntity:
		return 0, nil // GitHub does not know the commit
	case http.StatusNotFound:
		pulls, err = pullsOfGitea(ctx, c, commit)
	}
	if err != nil {
		return 0, fmt.Errorf("looking up the pull request of commit %.12q: %w", commit, c.Explain(err, mayComment))
	}
	best, number := 0, 0
	for _, pull := range pulls {
		if rank := rankOf(c, pull, commit); rank > best || rank == best && rank > 0 && pull.GetNumber() > number {
			best, number = rank, pull.GetNumber()
		}
	}
	return number, nil
}

// UnmergedOfFork reports whether a pull request comes from another repository
// and is not merged. The repository of a deleted fork is not known, so it is
// another one. So is it where the head is of no branch, which who may only read a repository on Gitea opens by a push to
// it (https://docs.gitea.com/usage/agit).
func (c *Client) UnmergedOfFork(ctx context.Context, number int) (bool, error) {
	pull, _, err := c.api.PullRequests.Get(ctx, c.owner, c.name, number)
	if err != nil {
		return false, fmt.Errorf("looking up pull request %d: %w", number, c.Explain(err, mayComment))
	}
	own := pull.GetBase().GetRepo().GetID()
	head := pull.GetHead()
	return !pull.GetMerged() && (own == 0 || head.GetRepo().GetID() != own || strings.HasPrefix(head.GetRef(), "refs/")), nil
}

// rankOf says how well a pull request explains a commit; 0: not at all.
func rankOf(c *Client, pull *github.PullRequest, commit string) int {
	repository := pull.GetBase().GetRepo().GetFullName()
	if repository != "" && !strings.EqualFold(repository, c.owner+"/"+c.name) {
		return 0 // of a fork, which has the commit too
	}
	open, merged := pull.GetState() == "open", pull.MergedAt != nil
	switch {
	case merged && pull.GetMergeCommitSHA() == commit:
		return 3
	case open && pull.GetHead().GetSHA() == commit:
		return 2
	case open || merged:
		return 1
	}
	return 0
}

// pullsOfGitea asks Gitea and Forgejo, which speak GitHub's API but have no
// list of a commit's pull requests: the newest open ones, of which one may
// have the commit as its head, and the one that was merged as it
// (https://docs.gitea.com/api/#tag/repository/operation/repoGetCommitPullRequest).
// GitHub itself gets here for a repository that the token cannot see, and then
// has nothing of all this either.
func pullsOfGitea(ctx context.Context, c *Client, commit string) ([]*github.PullRequest, error) {
	options := &github.PullRequestListOptions{State: "open", ListOptions: github.ListOptions{PerPage: 100}}
	open, _, err := c.api.PullRequests.List(ctx, c.owner, c.name, options)
	if StatusOf(err) == http.StatusNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	pulls := slices.DeleteFunc(open, func(p *github.PullRequest) bool { return p.GetHead().GetSHA() != commit })
	request, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/commits/%s/pull", c.owner, c.name, url.PathEscape(commit)), nil)
	if err != nil {
		return nil, err
	}
	merged := &github.PullRequest{}
	if _, err := c.api.Do(ctx, request, merged); err == nil {
		pulls = append(pulls, merged)
	} else if StatusOf(err) != http.StatusNotFound {
		return nil, err
	}
	return pulls, nil
}
