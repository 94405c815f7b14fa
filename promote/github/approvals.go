package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mayReadRuns is the permission for what belongs to a workflow run.
const mayReadRuns = "actions: read"

// An approval is somebody's answer to a job that waits for its environment
// (https://docs.github.com/rest/actions/workflow-runs#get-the-review-history-for-a-workflow-run).
type approval struct {
	State        string `json:"state"` // approved, rejected or pending
	Environments []struct {
		Name string `json:"name"`
	} `json:"environments"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
}

// of tells whether the answer is yes, and to a job of the environment.
func (a approval) of(environment string) bool {
	for _, e := range a.Environments {
		if strings.EqualFold(e.Name, environment) {
			return a.State == "approved" && a.User.Login != ""
		}
	}
	return false
}

// Approvals are who has approved of an environment in a workflow run, in the order
// in which they did.
func (c *Client) Approvals(ctx context.Context, run int64, environment string) ([]string, error) {
	request, err := c.api.NewRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/actions/runs/%s/approvals", c.owner, c.name, strconv.FormatInt(run, 10)), nil)
	if err != nil {
		return nil, err
	}
	var all []approval
	if _, err := c.api.Do(ctx, request, &all); err != nil {
		return nil, fmt.Errorf("reading who has approved of workflow run %d: %w", run, c.Explain(err, mayReadRuns))
	}
	var names []string
	for _, a := range all {
		if a.of(environment) && !slices.Contains(names, a.User.Login) {
			names = append(names, a.User.Login)
		}
	}
	return names, nil
}
