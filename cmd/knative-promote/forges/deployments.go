package forges

import (
	"github.com/acme/knative-promote/promote/event"
	"github.com/acme/knative-promote/promote/github"
	"github.com/acme/knative-promote/promote/report"
)

// Deployments shows a run as deployments of the infra repository.
func (w Writer) Deployments() (func(event.Result) error, error) {
	on, err := OpenInfra(w.Settings, w.Workflow, w.Console, github.Deployments)
	if err != nil {
		return nil, err
	}
	ids := map[bool]int64{} // by whether it restores
	written := map[bool]report.Deployment{}
	return func(result event.Result) error {
		for _, d := range report.Deployments(result) {
			if written[d.Restores] == d {
				continue
			}
			id, err := w.deploy(on, ids[d.Restores], d)
			if ids[d.Restores] = id; err != nil {
				return err
			}
			written[d.Restores] = d
		}
		return nil
	}, nil
}

// deploy says how far a deployment is, which it makes where the id is zero and no
// earlier run has. What such a run has said already starts no workflow again.
func (w Writer) deploy(on *Infra, id int64, d report.Deployment) (int64, error) {
	client, err := on.client(w.Context)
	var said github.DeploymentStatus // by an earlier run
	if err == nil && id == 0 {
		id, said, err = client.Deploy(w.Context, w.made(d))
	}
	status := w.status(d)
	if err != nil || said.State == status.State && said.Description == status.Description {
		return id, err
	}
	return id, client.SetDeploymentStatus(w.Context, id, status)
}

func (w Writer) made(d report.Deployment) github.Deployment {
	return github.Deployment{Commit: d.Commit, Environment: w.Console.Redact(d.Environment), Description: w.Console.Redact(d.Title), Promotion: d.Promotion, Restores: d.Restores}
}

func (w Writer) status(d report.Deployment) github.DeploymentStatus {
	return github.DeploymentStatus{State: d.State, Description: w.Console.Redact(d.Description), URL: w.Console.Redact(d.URL), LogURL: w.Workflow.RunURL}
}
