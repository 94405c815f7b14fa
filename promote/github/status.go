package github

import (
	"context"
	"fmt"

	"github.com/google/go-github/v60/github"
)

// A CommitStatus is one that a forge shows beside a commit.
type CommitStatus struct {
	Context     string // its name
	State       string // pending, success, failure or error
	Description string
	URL         string // of the page with more; empty: none
}

// SetStatus puts a status beside a commit, in the place of an earlier one of the
// same name.
func (c *Client) SetStatus(ctx context.Context, commit string, s CommitStatus) error {
	status := &github.RepoStatus{State: &s.State, Context: &s.Context, Description: &s.Description}
	if s.URL != "" {
		status.TargetURL = &s.URL
	}
	if _, _, err := c.api.Repositories.CreateStatus(ctx, c.owner, c.name, commit, status); err != nil {
		return fmt.Errorf("setting the status of commit %.12s of %s/%s: %w", commit, c.owner, c.name, c.explain(err, maySetStatus))
	}
	return nil
}

// States are the states of a commit's statuses by their names, of each the
// newest. The commit need not be in any branch.
func (c *Client) States(ctx context.Context, commit string) (map[string]string, error) {
	states := map[string]string{}
	options := &github.ListOptions{PerPage: 100}
	for range maxPages {
		combined, response, err := c.api.Repositories.GetCombinedStatus(ctx, c.owner, c.name, commit, options)
		if err != nil {
			return nil, fmt.Errorf("reading the statuses of commit %.12s of %s/%s: %w", commit, c.owner, c.name, c.explain(err, mayReadStatus))
		}
		for _, s := range combined.Statuses {
			states[s.GetContext()] = s.GetState()
		}
		if response.NextPage == 0 {
			break
		}
		options.Page = response.NextPage
	}
	return states, nil
}
