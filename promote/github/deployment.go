package github

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/go-github/v60/github"
)

// A Deployment is one that GitHub shows of an environment. Gitea and Forgejo have
// none.
type Deployment struct {
	Commit      string // of the repository, which it is of
	Environment string
	Description string // at most 140 characters
	Promotion   string // id, by which it is found again
	Restores    bool   // it is what was restored after the promotion
}

// A DeploymentStatus is how far a deployment is.
type DeploymentStatus struct {
	State       string // queued, in_progress, success, failure, error or inactive
	Description string // at most 140 characters
	URL         string // where to see it; empty: not yet
	LogURL      string // of the page with more; empty: none
}

// deploymentMark is the payload that says whose a deployment is.
type deploymentMark struct {
	Promotion string `json:"knative-promote"`
	Restores  bool   `json:"restores,omitempty"`
}

// Deploy returns the id of the deployment, and what was said of it last. It makes
// the deployment where no run of the promotion has yet: then one that another
// promotion has left open becomes inactive. Nothing is merged, and no status is
// waited for, as GitHub does by itself
// (https://docs.github.com/rest/deployments/deployments#create-a-deployment).
func (c *Client) Deploy(ctx context.Context, d Deployment) (int64, DeploymentStatus, error) {
	var none DeploymentStatus
	mark := deploymentMark{d.Promotion, d.Restores}
	options := &github.DeploymentsListOptions{Environment: d.Environment, ListOptions: github.ListOptions{PerPage: 30}}
	newest, _, err := c.api.Repositories.ListDeployments(ctx, c.owner, c.name, options)
	if err != nil {
		return 0, none, fmt.Errorf("reading the deployments of %s/%s: %w", c.owner, c.name, c.Explain(err, mayDeploy))
	}
	for _, there := range newest {
		if markOf(there) == mark {
			said, err := saidOf(ctx, c, there.GetID())
			return there.GetID(), said, err
		}
	}
	if err := closeOther(ctx, c, newest, mark); err != nil {
		return 0, none, err
	}
	merge := false
	made, _, err := c.api.Repositories.CreateDeployment(ctx, c.owner, c.name, &github.DeploymentRequest{
		Ref: &d.Commit, Environment: &d.Environment, Description: &d.Description, Payload: mark,
		AutoMerge: &merge, RequiredContexts: &[]string{},
	})
	if err != nil {
		return 0, none, fmt.Errorf("making a deployment of commit %.12s of %s/%s: %w", d.Commit, c.owner, c.name, c.Explain(err, mayDeploy))
	}
	return made.GetID(), none, nil
}

func markOf(d *github.Deployment) deploymentMark {
	var mark deploymentMark
	if json.Unmarshal(d.Payload, &mark) != nil {
		return deploymentMark{}
	}
	return mark
}

// closeOther closes the newest deployment of another promotion, if its run has not:
// nobody goes on with it.
func closeOther(ctx context.Context, c *Client, newest []*github.Deployment, mark deploymentMark) error {
	other := slices.IndexFunc(newest, func(d *github.Deployment) bool {
		return markOf(d).Promotion != "" && markOf(d).Promotion != mark.Promotion
	})
	if other < 0 {
		return nil
	}
	id := newest[other].GetID()
	said, err := saidOf(ctx, c, id)
	if err != nil || slices.Contains([]string{"success", "failure", "error", "inactive"}, said.State) {
		return err
	}
	return c.SetDeploymentStatus(ctx, id, DeploymentStatus{State: "inactive", Description: "another promotion has begun"})
}

// saidOf is the newest status of a deployment; the zero DeploymentStatus: it has none.
func saidOf(ctx context.Context, c *Client, id int64) (DeploymentStatus, error) {
	newest, _, err := c.api.Repositories.ListDeploymentStatuses(ctx, c.owner, c.name, id, &github.ListOptions{PerPage: 1})
	if err != nil {
		return DeploymentStatus{}, fmt.Errorf("reading the statuses of deployment %d of %s/%s: %w", id, c.owner, c.name, c.Explain(err, mayDeploy))
	}
	if len(newest) == 0 {
		return DeploymentStatus{}, nil
	}
	s := newest[0]
	return DeploymentStatus{State: s.GetState(), Description: s.GetDescription(), URL: s.GetEnvironmentURL(), LogURL: s.GetLogURL()}, nil
}

// SetDeploymentStatus says how far a deployment is. One that has succeeded makes
// those of its environment before it inactive.
func (c *Client) SetDeploymentStatus(ctx context.Context, id int64, s DeploymentStatus) error {
	others := true
	request := &github.DeploymentStatusRequest{State: &s.State, Description: &s.Description, AutoInactive: &others}
	if s.URL != "" {
		request.EnvironmentURL = &s.URL
	}
	if s.LogURL != "" {
		request.LogURL = &s.LogURL
	}
	if _, _, err := c.api.Repositories.CreateDeploymentStatus(ctx, c.owner, c.name, id, request); err != nil {
		return fmt.Errorf("setting the status of deployment %d of %s/%s: %w", id, c.owner, c.name, c.Explain(err, mayDeploy))
	}
	return nil
}
