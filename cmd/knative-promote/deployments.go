package main

import (
	"context"

	"github.com/acme/knative-promote/cmd/knative-promote/console"
	"github.com/acme/knative-promote/cmd/knative-promote/inputs"
	"github.com/acme/knative-promote/promote"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/report"
)

// A deploymentWriter shows a run as deployments of the infra repository.
type deploymentWriter struct {
	ctx      context.Context // of the requests
	settings inputs.Settings
	workflow console.Workflow
	console  *console.Console
}

func (w deploymentWriter) begin() (func(promote.Result) error, error) {
	on, err := forgeOfInfra(w.settings, w.workflow, w.console, github.Deployments)
	if err != nil {
		return nil, err
	}
	ids := map[bool]int64{} // by whether it restores
	written := map[bool]report.Deployment{}
	return func(result promote.Result) error {
		for _, d := range report.Deployments(result) {
			if written[d.Restores] == d {
				continue
			}
			client, err := on.client(w.ctx)
			if err != nil {
				return err
			}
			if ids[d.Restores] == 0 {
				ids[d.Restores], err = client.Deploy(w.ctx, w.made(d))
			}
			if err == nil {
				err = client.SetDeploymentStatus(w.ctx, ids[d.Restores], w.status(d))
			}
			if err != nil {
				return err
			}
			written[d.Restores] = d
		}
		return nil
	}, nil
}

func (w deploymentWriter) made(d report.Deployment) github.Deployment {
	return github.Deployment{Commit: d.Commit, Environment: w.console.Redact(d.Environment), Description: w.console.Redact(d.Title), Promotion: d.Promotion, Restores: d.Restores}
}

func (w deploymentWriter) status(d report.Deployment) github.DeploymentStatus {
	return github.DeploymentStatus{State: d.State, Description: w.console.Redact(d.Description), URL: w.console.Redact(d.URL), LogURL: w.workflow.RunURL}
}
