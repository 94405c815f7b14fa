package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/go-github/v60/github"
)

// HasCommit tells whether the repository's default branch has a commit, or another branch has it as
// its newest. GitHub knows the commits of forks by the repository's name too.
func HasCommit(ctx context.Context, c *Client, commit string) (bool, error) {
	has, err := hasCommit(ctx, c, commit)
	if err != nil {
		return false, fmt.Errorf("looking for commit %.12q in the branches of %s/%s: %w", commit, c.owner, c.name, c.Explain(err, "contents: read"))
	}
	return has, nil
}

func hasCommit(ctx context.Context, c *Client, commit string) (bool, error) {
	repository, _, err := c.api.Repositories.Get(ctx, c.owner, c.name)
	if err != nil {
		return false, err
	}
	one := &github.ListOptions{PerPage: 1}
	compared, _, err := c.api.Repositories.CompareCommits(ctx, c.owner, c.name, repository.GetDefaultBranch(), commit, one)
	switch code := StatusOf(err); {
	case code == http.StatusNotFound, code == http.StatusUnprocessableEntity:
		return false, nil // GitHub does not know the commit
	case err != nil:
		return false, err
	case compared.GetStatus() == "behind" || compared.GetStatus() == "identical":
		return true, nil
	}
	branches, _, err := c.api.Repositories.ListBranchesHeadCommit(ctx, c.owner, c.name, url.PathEscape(commit))
	return len(branches) > 0, err
}
