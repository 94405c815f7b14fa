package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

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
		return fmt.Errorf("setting the status of commit %.12s of %s/%s: %w", commit, c.owner, c.name, c.Explain(err, maySetStatus))
	}
	return nil
}

// combinedStatus is what all statuses of a commit come to. Gitea and Forgejo have
// another name for what GitHub calls the state of one
// (https://docs.gitea.com/api/#tag/repository/operation/repoGetCombinedStatusByRef).
type combinedStatus struct {
	Statuses []struct{ Context, State, Status string }
}

// States are the states of a commit's statuses by their names, of each the
// newest. The commit need not be in any branch.
func (c *Client) States(ctx context.Context, commit string) (map[string]string, error) {
	states := map[string]string{}
	page := 1
	for range maxPages {
		combined, next, err := readCombined(ctx, c, commit, page)
		if err != nil {
			return nil, fmt.Errorf("reading the statuses of commit %.12s of %s/%s: %w", commit, c.owner, c.name, c.Explain(err, mayReadStatus))
		}
		for _, s := range combined.Statuses {
			states[s.Context] = cmp.Or(s.State, s.Status)
		}
		if page = next; page == 0 {
			break
		}
	}
	return states, nil
}

// readCombined reads a page, and tells which is the next; 0: none is.
func readCombined(ctx context.Context, c *Client, commit string, page int) (combined combinedStatus, next int, err error) {
	address := fmt.Sprintf("repos/%s/%s/commits/%s/status?per_page=100&page=%d", c.owner, c.name, commit, page)
	request, err := c.api.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return combined, 0, err
	}
	response, err := c.api.Do(ctx, request, &combined)
	if err != nil {
		return combined, 0, err
	}
	return combined, response.NextPage, nil
}
