package main

import (
	"context"

	"github.com/acme/knative-promote/argo"
	"github.com/acme/knative-promote/gitops"
	"github.com/acme/knative-promote/promote"
)

// execute does what the settings ask for and says how it ended. The result is
// as complete as the run has come, also beside an error.
func execute(ctx context.Context, s settings, w workflow, r *runner) (promote.Result, error) {
	p, err := connect(s, r)
	if err != nil {
		return promote.Result{Command: s.Command, Status: promote.Failed}, err
	}
	switch s.Command {
	case cmdRollback:
		return p.Rollback(ctx)
	default:
		return p.Run(ctx)
	}
}

// connect makes the run's ends: the infra repository and Argo CD.
func connect(s settings, r *runner) (*promote.Promotion, error) {
	repo, err := gitops.Open(s.Remote)
	if err != nil {
		return nil, err
	}
	repo.Author, repo.Committer = s.Author, s.Committer
	cluster, err := argo.New(s.Argo)
	if err != nil {
		return nil, err
	}
	return &promote.Promotion{Config: s.Promote, Branch: repo, History: repo, Cluster: cluster, Reporter: &reporter{runner: r}}, nil
}

// reporter shows the run as it goes: a group a step, and a line for what
// happens in it.
type reporter struct {
	runner *runner
	group  string
}

// Report opens the group of the step that has begun.
func (r *reporter) Report(result promote.Result) {
	for _, step := range result.Steps {
		if step.Progress == promote.Running && step.Title != r.group {
			r.group = step.Title
			r.runner.Group(step.Title)
		}
	}
}

// Line prints into the open group.
func (r *reporter) Line(text string) { r.runner.Printf("%s", text) }
